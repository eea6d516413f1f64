"""The small hub gives huggingface_hub what the real one would: pull requests, commits, and files of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from checkpoints import Checkpoint
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
from loopback_hub import COMMIT, FIRST_COMMIT, TALKS_A_PAGE, Conversion, Hub

ID = "someone/tiny"


@pytest.fixture
def offered(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> Conversion:
    """A model of which the hub has config.json, a folder and no more, and an offer of all the rest."""
    folder = tmp_path / "published"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "config.json").write_bytes((checkpoint("bert") / "config.json").read_bytes())
    hub.models[ID] = folder
    hub.conversions[ID] = Conversion(checkpoint("bert"), number=TALKS_A_PAGE + 2)
    return hub.conversions[ID]


def test_talks_come_in_pages_and_are_chosen_by_author_kind_and_status(hub: Hub, offered: Conversion) -> None:
    api = HfApi()
    everything = list(api.get_repo_discussions(ID))
    assert [talk.num for talk in everything] == list(range(offered.number, 0, -1))
    talks = [
        talk
        for chosen in (
            {"author": "SFconvertbot"},
            {"discussion_type": "pull_request"},
            {"author": "SFconvertbot", "discussion_type": "pull_request", "discussion_status": "open"},
        )
        for talk in api.get_repo_discussions(ID, **chosen)
    ]
    assert talks == [everything[0]] * 3
    assert (talks[0].title, talks[0].git_reference, talks[0].author, talks[0].status) == (
        "Adding `safetensors` variant of this model",
        "refs/pr/12",
        "SFconvertbot",
        "open",
    )
    assert len(list(api.get_repo_discussions(ID, discussion_type="discussion"))) == TALKS_A_PAGE + 1
    assert list(api.get_repo_discussions(ID, discussion_status="closed")) == []
    del hub.conversions[ID]
    assert list(api.get_repo_discussions(ID)) == []


def test_commits_come_newest_first(hub: Hub, offered: Conversion) -> None:
    api = HfApi()
    main = api.list_repo_commits(ID)
    assert [commit.commit_id for commit in main] == [COMMIT, FIRST_COMMIT]
    newest, *before = api.list_repo_commits(ID, revision=offered.reference)
    assert (newest.commit_id, newest.authors, before) == (offered.commit, ["SFconvertbot"], main)
    assert newest.created_at > before[0].created_at
    assert api.list_repo_commits(ID, revision=offered.commit)[0] == newest

    hub.conversions[ID] = replace(offered, parent="a" * 40)  # and its owner has changed something since
    assert [commit.commit_id for commit in api.list_repo_commits(ID)] == [COMMIT, "a" * 40, FIRST_COMMIT]
    offer = api.list_repo_commits(ID, revision=offered.reference)
    assert [commit.commit_id for commit in offer] == [offered.commit, "a" * 40, FIRST_COMMIT]


@pytest.mark.parametrize("name", ["reference", "commit"])
def test_a_pull_request_has_files_of_its_own(name: str, offered: Conversion) -> None:
    api, revision = HfApi(), getattr(offered, name)
    assert {file.rfilename for file in api.model_info(ID).siblings or []} == {"1_Pooling/config.json", "config.json"}
    info = api.model_info(ID, revision=revision, files_metadata=True)
    assert info.sha == offered.commit
    assert info.safetensors is not None
    names = {file.name for file in offered.folder.iterdir()}
    assert {file.rfilename for file in info.siblings or []} == names
    assert set(api.list_repo_files(ID, revision=revision)) == names
    folder = Path(snapshot_download(ID, revision=revision, allow_patterns=["model.safetensors"]))
    assert folder.name == offered.commit
    assert (folder / "model.safetensors").read_bytes() == (offered.folder / "model.safetensors").read_bytes()
    assert (Path(snapshot_download(ID)) / "1_Pooling" / "config.json").read_text() == "{}"


@pytest.mark.usefixtures("offered")
def test_what_is_not_there() -> None:
    api = HfApi()
    with pytest.raises(RevisionNotFoundError):
        api.model_info(ID, revision="refs/pr/1")
    with pytest.raises(RevisionNotFoundError):
        api.list_repo_commits(ID, revision="0" * 40)
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(ID, "model.safetensors")
    with pytest.raises(RepositoryNotFoundError):
        list(api.get_repo_discussions("someone/else"))
