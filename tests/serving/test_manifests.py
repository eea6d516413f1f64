"""Serve's config and the manifest for Kubernetes are what those who read them take."""

import copy
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
for config in json.load(sys.stdin):
    for application in ServeDeploySchema.model_validate(config).applications:
        assert application.import_path == "look_inside_bert.serving.app:app", application.import_path
        build(app, application.args)
    print("taken", flush=True)
"""


def python(code: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], input=typed, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_serve_takes_the_config_and_the_manifests_and_no_other() -> None:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert config["http_options"]["host"] == "127.0.0.1"
    of_manifest = yaml.safe_load(RAY_SERVICE["spec"]["serveConfigV2"])
    other = copy.deepcopy(of_manifest)
    other["applications"][0]["args"]["replicas"] = 3
    checked = python(_SERVE_CHECKS, json.dumps([config, of_manifest, other]))
    assert checked.stdout.split() == ["taken", "taken"], checked.stderr[-2000:]
    assert "Extra inputs are not permitted" in checked.stderr


def test_kubernetes_takes_its_own_kinds_and_the_ray_service_has_kuberays_fields() -> None:
    for document in OTHERS:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
    assert RAY_SERVICE["apiVersion"] == "ray.io/v1"
    spec = RAY_SERVICE["spec"]
    cluster = spec["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    kinds = ("RayService", "RayServiceSpec", "RayClusterSpec", "AutoscalerOptions", "HeadGroupSpec")
    for kind, fields in zip(
        (*kinds, *["WorkerGroupSpec"] * len(cluster["workerGroupSpecs"])),
        (RAY_SERVICE, spec, cluster, cluster["autoscalerOptions"], *groups),
        strict=True,
    ):
        assert fields.keys() <= {*FIELDS[kind].split()}
    for group in groups:
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": group["template"]["spec"]}
        kubernetes_validate.validate(pod, KUBERNETES, strict=True)


def test_versions_and_names_agree() -> None:
    locked = re.search(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert locked is not None
    assert RAY_SERVICE["spec"]["rayClusterConfig"]["rayVersion"] == locked[1]
    deployment = next(document for document in DOCUMENTS if document["kind"] == "Deployment")
    (web, *_) = deployment["spec"]["template"]["spec"]["containers"]
    environment = {variable["name"]: variable.get("value") for variable in web["env"]}
    service = f"http://{RAY_SERVICE['metadata']['name']}-serve-svc:8000"  # as KubeRay names it
    assert environment["INSIDE_BERT_ENGINE"] == service
    services = [document for document in OTHERS if document["kind"] == "Service"]
    (redis,) = (document for document in services if document["metadata"]["name"] != "inside-bert-web")
    address = f"redis://{redis['metadata']['name']}:{redis['spec']['ports'][0]['port']}/0"
    assert environment["INSIDE_BERT_ROOMS_REDIS"] == address
    manifest = (ROOT / "serving/kuberay.yaml").read_text(encoding="utf-8")
    secrets = re.findall(r"name: inside-bert, key: ([\w-]+)", manifest)
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
    checked = python(_LET_GO)
    assert checked.stdout.strip() == "kept true", checked.stderr[-2000:]
