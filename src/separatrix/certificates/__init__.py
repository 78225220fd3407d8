"""Claims with proofs: checkers only, which never import a solver."""

from separatrix.certificates.base import (
    Certificate,
    Check,
    OneVsRestCertificate,
    Verification,
    certificate_from_dict,
)
from separatrix.certificates.exact import least_margin
from separatrix.certificates.mistakes import MistakesCertificate, ProofStep, update_limit

__all__ = [
    "Certificate",
    "Check",
    "MistakesCertificate",
    "OneVsRestCertificate",
    "ProofStep",
    "Verification",
    "certificate_from_dict",
    "least_margin",
    "update_limit",
]
