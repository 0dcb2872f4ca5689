"""The vocabulary of Forge: typed, frozen records that every room shares; settings, errors and the plug-in registry.

Nothing here imports another room. A record is pure data: it validates on construction, never changes afterwards, and
has one canonical JSON form (`forge.records.canonical`), so that equal content has an equal hash on every machine.
"""

from forge.records.action import (
    Action,
    ActionAdapter,
    Answer,
    Bash,
    Button,
    Done,
    Drag,
    HoldKey,
    Key,
    Point,
    Pointer,
    Scroll,
    Type,
    Wait,
    Zoom,
    channel_of,
)
from forge.records.artifact import Artifact, FileEntry, Role, Snapshot
from forge.records.base import JSON, Record
from forge.records.canonical import canonical_json, digest, sha256_hex
from forge.records.errors import (
    BudgetError,
    DesktopError,
    ExhaustedError,
    ForgeError,
    HarnessError,
    InputError,
    ModelError,
    PreparerError,
    VerifierError,
    WarehouseError,
)
from forge.records.fingerprint import Fingerprint
from forge.records.grounding import GroundingPair, GroundingScreen, GroundingTarget, Style
from forge.records.guest import Guest
from forge.records.harness import Harness, ObservationSpec, TerminalSpec
from forge.records.model_call import ModelCall, Usage
from forge.records.probe import NearMiss, Probe, ProbeKind
from forge.records.registry import Registry
from forge.records.rubric import Criterion, Rubric
from forge.records.settings import Settings
from forge.records.skill import Channel, Skill, SkillState
from forge.records.task import Solution, Start, Step, Task
from forge.records.trajectory import ActionRecord, Element, EndedBy, Observation, Provenance, Trajectory, Turn
from forge.records.verdict import CriterionVerdict, Grading, Verdict

__all__ = [
    "JSON",
    "Action",
    "ActionAdapter",
    "ActionRecord",
    "Answer",
    "Artifact",
    "Bash",
    "BudgetError",
    "Button",
    "Channel",
    "Criterion",
    "CriterionVerdict",
    "DesktopError",
    "Done",
    "Drag",
    "Element",
    "EndedBy",
    "ExhaustedError",
    "FileEntry",
    "Fingerprint",
    "ForgeError",
    "Grading",
    "GroundingPair",
    "GroundingScreen",
    "GroundingTarget",
    "Guest",
    "Harness",
    "HarnessError",
    "HoldKey",
    "InputError",
    "Key",
    "ModelCall",
    "ModelError",
    "NearMiss",
    "Observation",
    "ObservationSpec",
    "Point",
    "Pointer",
    "PreparerError",
    "Probe",
    "ProbeKind",
    "Provenance",
    "Record",
    "Registry",
    "Role",
    "Rubric",
    "Scroll",
    "Settings",
    "Skill",
    "SkillState",
    "Snapshot",
    "Solution",
    "Start",
    "Step",
    "Style",
    "Task",
    "TerminalSpec",
    "Trajectory",
    "Turn",
    "Type",
    "Usage",
    "Verdict",
    "VerifierError",
    "Wait",
    "WarehouseError",
    "Zoom",
    "canonical_json",
    "channel_of",
    "digest",
    "sha256_hex",
]
