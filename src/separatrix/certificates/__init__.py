"""Claims with proofs: checkers only, which never import a solver."""

from separatrix.certificates.base import (
    Certificate,
    Check,
    OneVsRestCertificate,
    Verification,
    certificate_from_dict,
)
from separatrix.certificates.exact import least_margin
from separatrix.certificates.generative import GenerativeCertificate, class_moments, closed_form
from separatrix.certificates.mistakes import MistakesCertificate, ProofStep, update_limit
from separatrix.certificates.optimality import DualBound, OptimalityCertificate, dual_bound

__all__ = [
    "Certificate",
    "Check",
    "DualBound",
    "GenerativeCertificate",
    "MistakesCertificate",
    "OneVsRestCertificate",
    "OptimalityCertificate",
    "ProofStep",
    "Verification",
    "certificate_from_dict",
    "class_moments",
    "closed_form",
    "dual_bound",
    "least_margin",
    "update_limit",
]
