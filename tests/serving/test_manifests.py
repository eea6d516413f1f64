"""Serve's config and the manifest for Kubernetes are what those who read them take."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from benchmarks.server import ROOT

CONFIG = ROOT / "serving/config.yaml"
DOCUMENTS: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "serving/kuberay.yaml").read_text(encoding="utf-8")))
RAY_SERVICE = next(document for document in DOCUMENTS if document["kind"] == "RayService")
OTHERS = [document for document in DOCUMENTS if document is not RAY_SERVICE]
KUBERNETES = kubernetes_validate.latest_version()

# The fields of ray.io/v1 by KubeRay's own reference (ray-project.github.io/kuberay/reference/api); there is no package
# of its schema.
FIELDS = {
    "RayService": "apiVersion kind metadata spec",
    "RayServiceSpec": "serveService upgradeStrategy serveConfigV2 rayClusterConfig excludeHeadPodFromServeSvc",
    "RayClusterSpec": "suspend managedBy autoscalerOptions headServiceAnnotations enableInTreeAutoscaling "
    "gcsFaultToleranceOptions headGroupSpec rayVersion workerGroupSpecs",
    "AutoscalerOptions": "resources image imagePullPolicy securityContext idleTimeoutSeconds upscalingMode version env "
    "envFrom volumeMounts",
    "HeadGroupSpec": "template headService enableIngress rayStartParams serviceType",
    "WorkerGroupSpec": "suspend groupName replicas minReplicas maxReplicas idleTimeoutSeconds rayStartParams template "
    "scaleStrategy numOfHosts",
}

_SERVE_CHECKS = """
import json, sys, warnings
warnings.simplefilter("ignore")
from ray.serve.schema import ServeDeploySchema
from ray.serve._private.api import call_user_app_builder_with_args_if_necessary as build
from serving.app import app
config = ServeDeploySchema.model_validate(json.load(sys.stdin))
for application in config.applications:
    assert application.import_path == "serving.app:app", application.import_path
    build(app, application.args)
print("taken")
"""


def serve_takes(config: Any) -> str:
    """What Serve's own schema says of a config, with the arguments that the application takes."""
    checked = subprocess.run(
        [sys.executable, "-c", _SERVE_CHECKS], input=json.dumps(config), cwd=ROOT, capture_output=True, text=True
    )
    return checked.stdout.strip() or checked.stderr[-2000:]


@pytest.mark.slow
def test_serve_takes_the_config() -> None:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert serve_takes(config) == "taken"
    assert config["http_options"]["host"] == "127.0.0.1"


@pytest.mark.slow
def test_serve_takes_the_manifests_config_and_no_other() -> None:
    config = yaml.safe_load(RAY_SERVICE["spec"]["serveConfigV2"])
    assert serve_takes(config) == "taken"
    config["applications"][0]["args"]["replicas"] = 3
    assert "Extra inputs are not permitted" in serve_takes(config)


@pytest.mark.parametrize(
    "document",
    [document for document in DOCUMENTS if document is not RAY_SERVICE],
    ids=lambda document: document["kind"],
)
def test_kubernetes_takes_its_own_kinds(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, KUBERNETES, strict=True)


def test_the_ray_service_has_kuberays_fields_and_pods_that_kubernetes_takes() -> None:
    spec = RAY_SERVICE["spec"]
    cluster = spec["rayClusterConfig"]
    assert RAY_SERVICE["apiVersion"] == "ray.io/v1"
    assert RAY_SERVICE.keys() <= {*FIELDS["RayService"].split()}
    assert spec.keys() <= {*FIELDS["RayServiceSpec"].split()}
    assert cluster.keys() <= {*FIELDS["RayClusterSpec"].split()}
    assert cluster["autoscalerOptions"].keys() <= {*FIELDS["AutoscalerOptions"].split()}
    groups = {"HeadGroupSpec": [cluster["headGroupSpec"]], "WorkerGroupSpec": cluster["workerGroupSpecs"]}
    for kind, schemas in groups.items():
        for group in schemas:
            assert group.keys() <= {*FIELDS[kind].split()}
            assert all(isinstance(value, str) for value in group["rayStartParams"].values())
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": group["template"]["spec"]}
            kubernetes_validate.validate(pod, KUBERNETES, strict=True)


def test_versions_and_names_agree() -> None:
    locked = re.search(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked is not None
    assert RAY_SERVICE["spec"]["rayClusterConfig"]["rayVersion"] == locked[1]
    web = next(document for document in DOCUMENTS if document["kind"] == "Deployment")["spec"]["template"]["spec"][
        "containers"
    ][0]
    address = next(document["value"] for document in web["env"] if document["name"] == "INSIDE_BERT_ENGINE")
    assert address == f"http://{RAY_SERVICE['metadata']['name']}-serve-svc:8000"  # as KubeRay names the service
    rooms = next(document["value"] for document in web["env"] if document["name"] == "INSIDE_BERT_ROOMS_REDIS")
    (redis,) = (
        document
        for document in OTHERS
        if document["kind"] == "Service" and document["metadata"]["name"] != "inside-bert-web"
    )
    assert rooms == f"redis://{redis['metadata']['name']}:{redis['spec']['ports'][0]['port']}/0"
    secrets = re.findall(
        r"name: inside-bert, key: ([\w-]+)", (ROOT / "serving/kuberay.yaml").read_text(encoding="utf-8")
    )
    documented = Path(ROOT, "docs/hosting.md").read_text(encoding="utf-8")
    assert all(f"--from-literal={key}=" in documented for key in set(secrets))


_LET_GO = """
import inspect, warnings
warnings.simplefilter("ignore")
from collections import OrderedDict
from types import SimpleNamespace as Some
from ray import serve
from ray.serve import api, multiplex
from serving.app import Models

replica = object.__new__(Models.func_or_class)
replica._engine = Some(held=lambda: [Some(info=Some(id="a"))])
replica._let_go()  # nothing was registered yet
wrapper = Some(models=OrderedDict(a="a", b="b"), _push_multiplexed_replica_info=False)
setattr(replica, "__serve_multiplex_wrapper", wrapper)
replica._let_go()
assert list(wrapper.models) == ["a"], wrapper.models
assert wrapper._push_multiplexed_replica_info
assert "__serve_multiplex_wrapper" in inspect.getsource(api.multiplexed)
for name in ("self.models", "_push_multiplexed_replica_info"):
    assert name in inspect.getsource(multiplex._ModelMultiplexWrapper)
print("kept true")
"""


@pytest.mark.slow
def test_serve_forgets_the_models_that_left_the_memory() -> None:
    """Its list of a replica's models has no public way out; the private one is still as it was."""
    checked = subprocess.run([sys.executable, "-c", _LET_GO], cwd=ROOT, capture_output=True, text=True)
    assert checked.stdout.strip() == "kept true", checked.stderr[-2000:]
