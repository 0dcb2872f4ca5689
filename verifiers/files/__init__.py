"""Checks of files and folders: `files.exists`, `files.content`, `files.tree`, `files.archive` and so on."""

from verifiers.files import archive as archive
from verifiers.files import content as content
from verifiers.files import contents as contents
from verifiers.files import elsewhere as elsewhere
from verifiers.files import moving as moving
from verifiers.files import picture as picture
from verifiers.files import presence as presence
from verifiers.files import structured as structured
