"""The cloud templates: what AWS's linter says, what a stack makes and leaves behind, and what its machines run."""

from __future__ import annotations

import ast
import base64
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

CLOUD = Path(__file__).parents[2] / "docker" / "cloud"
TEMPLATE = (CLOUD / "aws.yaml").read_text(encoding="utf-8")
# moto knows no parameters of this service: the test makes one.
GPU_IMAGE = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
GIVEN = {"Image": "registry.example/kit:cuda", "KeyPair": "mine", "AllowedCidr": "203.0.113.7/32", "Zone": "us-east-1a"}
# Where machines report: a signed address, with all the characters that such a one has.
SIGNALS = "https://cloudformation-waitcondition-us-east-1.example/arn%3Aaws?X-Amz-Algorithm=AWS4&X-Amz-Signature=0a1b"


# --------------------------------------------------------------------------------------------------------- the template
def test_the_template_has_no_lint() -> None:
    linter = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run([linter, CLOUD / "aws.yaml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("cidr", "taken"),
    [
        ("203.0.113.7/32", True),
        ("198.51.0.0/16", True),
        ("0.0.0.0/0", False),
        ("203.0.0.0/15", False),
        ("203.0.113.7", False),
    ],
)
def test_a_wide_address_range_is_refused(cidr: str, taken: bool) -> None:
    pattern = re.search(r'AllowedCidr:.*?AllowedPattern: "(.*?)"', TEMPLATE, re.DOTALL)
    assert pattern and bool(re.fullmatch(pattern[1].replace("\\\\", "\\"), cidr)) is taken


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return boto3 with an imagined AWS behind it, which has our key pair and a machine image."""
    boto3, moto = pytest.importorskip("boto3"), pytest.importorskip("moto")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    from moto.cloudformation import parsing

    monkeypatch.setattr(parsing, "NULL_MODELS", [])
    teach_moto(boto3)
    with moto.mock_aws():
        boto3.client("ssm").put_parameter(Name="/made/gpu", Value="ami-03cf127a", Type="String")
        boto3.client("ec2").create_key_pair(KeyName="mine")
        yield boto3


def teach_moto(boto3: Any) -> None:
    """Teach moto what it does not know of this template, as CloudFormation documents it.

    The private half of a key pair goes into the parameter store. A handle to wait for is an address to send to. Where
    machines stand, and how long a stack waits, is nothing that an imagined account could have.
    """
    from moto.cloudformation import parsing
    from moto.core.common_models import CloudFormationModel

    class Known(CloudFormationModel):
        kind, reference, number = "Custom::Known", "known", ""

        def __init__(self, name: str) -> None:
            self.physical_resource_id, self.type = self.reference or name, self.kind

        @staticmethod
        def cloudformation_name_type() -> str:
            return ""

        @classmethod
        def cloudformation_type(cls) -> str:
            return cls.kind

        @classmethod
        def has_cfn_attr(cls, attr: str) -> bool:
            return attr == "KeyPairId"

        def get_cfn_attribute(self, attribute_name: str) -> str:
            return self.number

        @classmethod
        def create_from_cloudformation_json(cls, resource_name: str, *_: Any, **__: Any) -> Any:
            return cls(resource_name)

        @classmethod
        def delete_from_cloudformation_json(cls, resource_name: str, *_: Any) -> None:
            assert resource_name

    class KeyPair(Known):
        kind, reference = "AWS::EC2::KeyPair", ""

        @staticmethod
        def cloudformation_name_type() -> str:
            return "KeyName"

        @classmethod
        def create_from_cloudformation_json(cls, resource_name: str, *given: Any, **__: Any) -> Any:
            name, kind = (given[0]["Properties"][key] for key in ("KeyName", "KeyType"))
            pair, made = boto3.client("ec2").create_key_pair(KeyName=name, KeyType=kind), cls(name)
            made.number = pair["KeyPairId"]
            parameter = {"Name": f"/ec2/keypair/{made.number}", "Value": pair["KeyMaterial"]}
            boto3.client("ssm").put_parameter(**parameter, Type="SecureString")
            return made

        @classmethod
        def delete_from_cloudformation_json(cls, resource_name: str, *_: Any) -> None:
            (pair,) = boto3.client("ec2").describe_key_pairs(KeyNames=[resource_name])["KeyPairs"]
            boto3.client("ec2").delete_key_pair(KeyName=resource_name)
            boto3.client("ssm").delete_parameter(Name=f"/ec2/keypair/{pair['KeyPairId']}")

    class Handle(Known):
        kind, reference = "AWS::CloudFormation::WaitConditionHandle", SIGNALS

    class Wait(Known):
        kind, reference = "AWS::CloudFormation::WaitCondition", ""

    class Placement(Known):
        kind, reference = "AWS::EC2::PlacementGroup", ""

    def removes(kind: str, remove: Callable[[Any, str], None]) -> None:
        """Let moto remove what it makes, but passes over when a stack is deleted."""

        def delete(_: Any, resource_name: str, *__: Any) -> None:
            remove(boto3.client("ec2"), resource_name)

        parsing.get_model_map()[kind].delete_from_cloudformation_json = classmethod(delete)  # type: ignore[assignment,method-assign]

    def remove_routes(ec2: Any, number: str) -> None:
        (table,) = ec2.describe_route_tables(RouteTableIds=[number])["RouteTables"]
        for association in table["Associations"]:
            ec2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
        ec2.delete_route_table(RouteTableId=number)

    def remove_gateway(ec2: Any, number: str) -> None:
        (gateway,) = ec2.describe_internet_gateways(InternetGatewayIds=[number])["InternetGateways"]
        for attachment in gateway["Attachments"]:
            ec2.detach_internet_gateway(InternetGatewayId=number, VpcId=attachment["VpcId"])
        ec2.delete_internet_gateway(InternetGatewayId=number)

    removes("AWS::EC2::RouteTable", remove_routes)
    removes("AWS::EC2::InternetGateway", remove_gateway)
    known = {model.kind: model for model in (KeyPair, Handle, Wait, Placement)}
    parsing.get_model_map().update(known)
    parsing.get_name_type_map()["AWS::EC2::KeyPair"] = "KeyName"


def create(aws: Any, **given: str) -> list[dict[str, Any]]:
    """Create the stack; return its machines, the head first."""
    parameters = [{"ParameterKey": key, "ParameterValue": value} for key, value in {**GIVEN, **given}.items()]
    template = TEMPLATE.replace(GPU_IMAGE, "/made/gpu")
    client = aws.client("cloudformation")
    client.create_stack(
        StackName="class", TemplateBody=template, Parameters=parameters, Capabilities=["CAPABILITY_IAM"]
    )
    assert client.describe_stacks(StackName="class")["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
    return sorted(running(aws), key=lambda machine: str(machine["PrivateIpAddress"]))


def running(aws: Any) -> list[dict[str, Any]]:
    found = [m for group in aws.client("ec2").describe_instances()["Reservations"] for m in group["Instances"]]
    return [machine for machine in found if machine["State"]["Name"] != "terminated"]


def everything(aws: Any) -> dict[str, list[str]]:
    """Return what there is in the account, of all kinds that the template makes."""
    ec2 = aws.client("ec2")
    parameters = [found["Name"] for found in aws.client("ssm").describe_parameters()["Parameters"]]
    return {
        "machines": [machine["InstanceId"] for machine in running(aws)],
        "volumes": [volume["VolumeId"] for volume in ec2.describe_volumes()["Volumes"]],
        "templates": [found["LaunchTemplateName"] for found in ec2.describe_launch_templates()["LaunchTemplates"]],
        "networks": sorted(found["VpcId"] for found in ec2.describe_vpcs()["Vpcs"]),
        "subnets": sorted(found["SubnetId"] for found in ec2.describe_subnets()["Subnets"]),
        "gateways": [found["InternetGatewayId"] for found in ec2.describe_internet_gateways()["InternetGateways"]],
        "groups": sorted(found["GroupId"] for found in ec2.describe_security_groups()["SecurityGroups"]),
        "keys": [found["KeyName"] for found in ec2.describe_key_pairs()["KeyPairs"]],
        "parameters": [name for name in parameters if not name.startswith("/aws/service/")],  # these are AWS's own
        "roles": [found["RoleName"] for found in aws.client("iam").list_roles()["Roles"]],
        "profiles": [p["InstanceProfileName"] for p in aws.client("iam").list_instance_profiles()["InstanceProfiles"]],
        "rules": [found["Name"] for found in aws.client("events").list_rules()["Rules"]],
        "machines of states": [m["name"] for m in aws.client("stepfunctions").list_state_machines()["stateMachines"]],
    }


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.thorough), 3])
def test_a_stack_starts_its_machines_and_leaves_nothing(workers: int, aws: Any) -> None:
    before = everything(aws)
    machines = create(aws, Workers=str(workers))
    assert [machine["PrivateIpAddress"] for machine in machines] == [f"10.77.0.{10 + n}" for n in range(workers + 1)]
    tags = [{tag["Key"]: tag["Value"] for tag in machine["Tags"]} for machine in machines]
    assert {tag["practicum-cluster"] for tag in tags} == {"class"}
    made = everything(aws)
    assert len(made["templates"]) == (2 if workers else 1)
    assert made["keys"] == [*before["keys"], "class-cluster"]
    aws.client("cloudformation").delete_stack(StackName="class")
    assert everything(aws) == before


def template_of(aws: Any, which: str) -> dict[str, Any]:
    """Return the data of a launch template, HeadTemplate or WorkerTemplate, as the machines get it."""
    client = aws.client("cloudformation")
    found = client.describe_stack_resource(StackName="class", LogicalResourceId=which)["StackResourceDetail"]
    versions = aws.client("ec2").describe_launch_template_versions(LaunchTemplateId=found["PhysicalResourceId"])
    data: dict[str, Any] = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    return data


@pytest.mark.parametrize("which", ["HeadTemplate", "WorkerTemplate"])
def test_machines_are_encrypted_end_for_good_and_keep_their_metadata(which: str, aws: Any) -> None:
    machines = create(aws, Workers="1", InstanceType="g6.xlarge", Spot="yes", DiskGiB="200")
    assert [(m["InstanceType"], m["ImageId"]) for m in machines] == [("g6.xlarge", "ami-03cf127a")] * 2
    data = template_of(aws, which)
    assert data["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert (data["MetadataOptions"]["HttpTokens"], data["MetadataOptions"]["HttpPutResponseHopLimit"]) == (
        "required",
        1,
    )
    disk = data["BlockDeviceMappings"][0]["Ebs"]
    assert (str(disk["Encrypted"]).lower(), int(disk["VolumeSize"])) == ("true", 200)
    assert str(disk["DeleteOnTermination"]).lower() == "true"
    assert data["InstanceMarketOptions"]["SpotOptions"]["InstanceInterruptionBehavior"] == "terminate"
    # A worker has no rights in the account at all.
    assert ("IamInstanceProfile" in data) is (which == "HeadTemplate")
    assert data["KeyName"] == {"HeadTemplate": "mine", "WorkerTemplate": "class-cluster"}[which]


def test_only_ssh_from_the_given_addresses_comes_in(aws: Any) -> None:
    create(aws, Workers="1")
    client = aws.client("cloudformation")
    ids = {
        name: client.describe_stack_resource(StackName="class", LogicalResourceId=name)["StackResourceDetail"]
        for name in ("NodeGroup", "LoginGroup")
    }
    ec2 = aws.client("ec2")
    rules = {
        name: ec2.describe_security_groups(GroupIds=[found["PhysicalResourceId"]])["SecurityGroups"][0]["IpPermissions"]
        for name, found in ids.items()
    }
    (login,), (among,) = rules["LoginGroup"], rules["NodeGroup"]
    assert [(login["FromPort"], login["ToPort"])] == [(22, 22)]
    assert [found["CidrIp"] for found in login["IpRanges"]] == ["203.0.113.7/32"]
    assert among["IpRanges"] == []
    assert [pair["GroupId"] for pair in among["UserIdGroupPairs"]] == [ids["NodeGroup"]["PhysicalResourceId"]]


def test_the_head_may_read_its_cluster_s_key_and_nothing_else(aws: Any) -> None:
    create(aws, Workers="1")
    client, iam = aws.client("cloudformation"), aws.client("iam")
    role = client.describe_stack_resource(StackName="class", LogicalResourceId="HeadRole")["StackResourceDetail"]
    name = role["PhysicalResourceId"]
    assert iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"] == []
    (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
    document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
    (may,) = (ast.literal_eval(document) if isinstance(document, str) else document)["Statement"]
    (key,) = [
        found["KeyPairId"] for found in aws.client("ec2").describe_key_pairs(KeyNames=["class-cluster"])["KeyPairs"]
    ]
    assert (may["Effect"], may["Action"]) == ("Allow", "ssm:GetParameter")
    assert may["Resource"].endswith(f":parameter/ec2/keypair/{key}") and "*" not in may["Resource"]


def test_a_rule_outside_the_machines_ends_what_is_left(aws: Any) -> None:
    create(aws, Workers="1", Hours="6")
    events = aws.client("events")
    (rule,) = events.list_rules()["Rules"]
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(6 hours)", "ENABLED")
    (target,) = events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
    (machine,) = aws.client("stepfunctions").list_state_machines()["stateMachines"]
    assert target["Arn"] == machine["stateMachineArn"]


# ---------------------------------------------------------------------------------------------------- what machines run
STUB = """#!/bin/bash
{ printf '%s' "${0##*/}"; printf '\\t%s' "$@"; printf '\\n'; } >> "$CALLS"
case "${0##*/} $*" in
  "aws ssm get-parameter"*) echo "PRIVATE KEY" ;;
  *"api/token"*) echo token ;;
  *"openssh-key"*) echo "ssh-ed25519 AAAA class-cluster" ;;
  *ssh-keyscan*) echo "[127.0.0.1]:2222 ssh-ed25519 AAAA" ;;
  hostname*) echo ip-10-77-0-12 ;;
esac
[ "${FAIL:-}" != "${0##*/} ${1:-}" ] || { echo "${0##*/}: no such image: $*" >&2; exit 1; }
"""
STUBS = ("aws", "chown", "curl", "dnf", "docker", "hostname", "shutdown", "sleep", "systemctl")


class Machine:
    """A machine's first boot, with stubs for what reaches outside."""

    def __init__(self, script: str, place: Path) -> None:
        self.root = place / "root"
        (self.root / "var" / "log").mkdir(parents=True)
        (place / "bin").mkdir()
        for name in STUBS:
            (place / "bin" / name).write_text(STUB)
            (place / "bin" / name).chmod(0o755)
        (place / "script").write_text(script)
        self._place = place

    def boot(self, fail: str = "") -> tuple[int, list[list[str]]]:
        """Run the script; return its exit code, and the commands that it called."""
        bash = shutil.which("bash") or "bash"
        own = {"PATH": f"{self._place}/bin:{os.environ['PATH']}", "ROOT": str(self.root), "FAIL": fail}
        environment = {**own, "CALLS": str(self._place / "calls")}
        done = subprocess.run(
            [bash, self._place / "script"], env=environment, capture_output=True, check=False, timeout=60
        )
        calls = (self._place / "calls").read_text().splitlines()
        return done.returncode, [call.split("\t") for call in calls]


_SCRIPTS: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
"""What machines of a stack run, by its parameters: an account is imagined once for each."""


def scripts(aws: Any, **given: str) -> dict[str, str]:
    key = tuple(sorted(given.items()))
    if key not in _SCRIPTS:
        create(aws, **given)
        which = ("HeadTemplate", "WorkerTemplate") if given.get("Workers") != "0" else ("HeadTemplate",)
        _SCRIPTS[key] = {name: base64.b64decode(template_of(aws, name)["UserData"]).decode() for name in which}
    return _SCRIPTS[key]


def machine(aws: Any, which: str, place: Path, **given: str) -> Machine:
    script = scripts(aws, **given)[which]
    assert script.startswith("#!/bin/bash\n")
    folder = place / uuid.uuid4().hex[:8]
    folder.mkdir()
    return Machine(script, folder)


def signals(calls: list[list[str]]) -> list[str]:
    return [word for call in calls if call[0] == "curl" for word in call if '"Status"' in word]


def test_the_head_starts_its_timer_first_then_the_image_and_signals(aws: Any, tmp_path: Path) -> None:
    head = machine(aws, "HeadTemplate", tmp_path, Workers="3", InstanceType="g5.xlarge", Hours="5")
    code, calls = head.boot()
    assert (code, calls[0]) == (0, ["shutdown", "-h", "+300"])
    home = head.root / "srv" / "home" / ".cluster"
    assert (home / "hosts").read_text() == "localhost\n10.77.0.11:2222\n10.77.0.12:2222\n10.77.0.13:2222\n"
    assert (home / "key").read_text() == "PRIVATE KEY\n"
    assert (home / "key").stat().st_mode & 0o777 == 0o600
    assert ["docker", "pull", "-q", "registry.example/kit:cuda"] in calls
    (run,) = [call for call in calls if call[:2] == ["docker", "run"]]
    said = " ".join(run)
    assert "--network host" in said and "--gpus all" in said and "JUPYTER_IP=127.0.0.1" in said
    assert f"{head.root}/srv/home:/home/jovyan" in said and said.endswith("registry.example/kit:cuda")
    (signal,) = signals(calls)
    assert '"Status":"SUCCESS"' in signal
    assert calls[-1][0] == "curl" and SIGNALS in calls[-1]


def test_a_head_alone_names_itself_only(aws: Any, tmp_path: Path) -> None:
    head = machine(aws, "HeadTemplate", tmp_path, Workers="0", InstanceType="c7i.large")
    code, calls = head.boot()
    assert code == 0
    assert (head.root / "srv" / "home" / ".cluster" / "hosts").read_text() == "localhost\n"
    assert "--gpus" not in {word for call in calls for word in call}


def test_a_worker_takes_the_cluster_s_key_and_no_other(aws: Any, tmp_path: Path) -> None:
    code, calls = machine(aws, "WorkerTemplate", tmp_path, Workers="2", InstanceType="g5.xlarge").boot()
    assert (code, calls[0]) == (0, ["shutdown", "-h", "+240"])
    (run,) = [call for call in calls if call[:2] == ["docker", "run"]]
    assert "LABKIT_AUTHORIZED_KEY=ssh-ed25519 AAAA class-cluster" in run
    assert run[-2:] == ["registry.example/kit:cuda", "start-node.sh"]
    assert run[run.index("--cap-drop") + 1] == "ALL"
    assert "aws" not in {call[0] for call in calls}
    (signal,) = signals(calls)
    assert '"Status":"SUCCESS","UniqueId":"ip-10-77-0-12"' in signal


@pytest.mark.parametrize("which", ["HeadTemplate", "WorkerTemplate"])
@pytest.mark.parametrize("command", ["docker pull", "docker run", "systemctl enable"])
def test_a_machine_that_cannot_start_the_image_says_why(which: str, command: str, aws: Any, tmp_path: Path) -> None:
    code, calls = machine(aws, which, tmp_path, Workers="1").boot(fail=command)
    assert code != 0
    (signal,) = signals(calls)
    assert '"Status":"FAILURE"' in signal
    assert "{}: no such image: {}".format(*command.split()) in signal
    assert re.fullmatch(r'\{"Status":"FAILURE","UniqueId":"[\w-]+","Data":"","Reason":"[\w .:/=@-]+"\}', signal)


def test_a_machine_whose_timer_does_not_start_does_nothing(aws: Any, tmp_path: Path) -> None:
    code, calls = machine(aws, "HeadTemplate", tmp_path, Workers="1").boot(fail="shutdown -h")
    assert code != 0
    assert calls == [["shutdown", "-h", "+240"]]


# --------------------------------------------------------------------------------------------- other clouds, Kubernetes
def test_the_sky_task_starts_torchrun_on_each_of_its_nodes(tmp_path: Path) -> None:
    task = yaml.safe_load((CLOUD / "sky.yaml").read_text(encoding="utf-8"))
    # The fields of SkyPilot's own schema that are used here.
    assert set(task) <= {"name", "workdir", "num_nodes", "resources", "envs", "setup", "run"}
    assert task["resources"]["autostop"] == {"idle_minutes": 30, "down": True}
    (tmp_path / "torchrun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "torchrun").chmod(0o755)
    told = {"SKYPILOT_NUM_NODES": "2", "SKYPILOT_NODE_RANK": "1", "SKYPILOT_NUM_GPUS_PER_NODE": "4"}
    told |= {"SKYPILOT_NODE_IPS": "10.0.0.4\n10.0.0.5\n", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    own = {**task["envs"], "SCRIPT": "train.py", "ARGUMENTS": "--epochs 3"}
    run = task["run"].replace("export PATH=/opt/kit/bin:$PATH", "")
    done = subprocess.run(["bash", "-c", run], env={**told, **own}, capture_output=True, text=True, check=True)
    assert " ".join(done.stdout.split()) == (
        "--nnodes 2 --node-rank 1 --nproc-per-node 4 --master-addr 10.0.0.4 --master-port 29500 train.py --epochs 3"
    )


def test_the_hub_s_values_give_students_a_uid_of_their_own_and_the_instructor_another_image() -> None:
    values = yaml.safe_load((CLOUD / "jupyterhub-values.yaml").read_text(encoding="utf-8"))
    config = SimpleNamespace(KubeSpawner=SimpleNamespace())
    exec(values["hub"]["extraConfig"]["course"], {"c": config})
    spawners = [
        SimpleNamespace(user=SimpleNamespace(admin=admin, id=number)) for number, admin in ((1, True), (2, False))
    ]
    uids, images = [], []
    for spawner in spawners:
        container = SimpleNamespace(image="as chosen")
        pod = SimpleNamespace(spec=SimpleNamespace(containers=[container]))
        config.KubeSpawner.modify_pod_hook(spawner, pod)
        uids.append(config.KubeSpawner.uid(spawner))
        images.append(container.image)
    assert uids == [1000, 20002]
    assert [image.endswith("cpu-instructor") for image in images] == [True, False]


def test_the_hub_s_pods_have_shared_memory_limits_and_an_end() -> None:
    values = yaml.safe_load((CLOUD / "jupyterhub-values.yaml").read_text(encoding="utf-8"))
    user = values["singleuser"]
    volumes = {volume["name"]: volume for volume in user["storage"]["extraVolumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in user["storage"]["extraVolumeMounts"]}
    assert volumes["shm"]["emptyDir"]["medium"] == "Memory" and mounts["shm"] == "/dev/shm"
    assert mounts.keys() == volumes.keys()
    assert user["memory"]["limit"] and user["cpu"]["limit"]
    assert values["cull"]["enabled"] and values["cull"]["maxAge"] > 0
    gpus = [profile.get("kubespawner_override", {}).get("extra_resource_limits") for profile in user["profileList"]]
    assert gpus == [None, {"nvidia.com/gpu": "1"}]
