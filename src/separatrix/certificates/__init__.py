"""Claims with proofs: checkers only, which never import a solver. Names load when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.certificates.base import (
        Certificate,
        CertifiedCoef,
        Check,
        OneVsRestCertificate,
        Verification,
        certificate_from_dict,
    )
    from separatrix.certificates.bias_reduction import BiasReductionCertificate, JeffreysPoint, jeffreys_point
    from separatrix.certificates.bounds import DualBound, dual_bound
    from separatrix.certificates.clashes import Clash
    from separatrix.certificates.covers import cover_needs, packing_bound
    from separatrix.certificates.divergence import Divergence, SignProof
    from separatrix.certificates.error_free import exact_sign_rows
    from separatrix.certificates.exact import least_margin
    from separatrix.certificates.generative import GenerativeCertificate, class_moments, closed_form
    from separatrix.certificates.kernel import KernelCertificate
    from separatrix.certificates.kernel_mistakes import KernelMistakesCertificate
    from separatrix.certificates.kernel_optimality import KernelOptimalityCertificate
    from separatrix.certificates.least_squares import Excess, LeastSquaresCertificate, excess_squares
    from separatrix.certificates.likelihood import LikelihoodCertificate
    from separatrix.certificates.mapped import MappedCertificate, mapped_rows
    from separatrix.certificates.margin import MarginCertificate, least_margin_below, margin_bounds
    from separatrix.certificates.mistakes import MistakesCertificate, ProofStep, update_limit
    from separatrix.certificates.mixing import MixingCertificate
    from separatrix.certificates.one_vs_one import OneVsOneCertificate
    from separatrix.certificates.optimality import OptimalityCertificate
    from separatrix.certificates.overlap import OverlapProof, Relation, dense_relation, overlap_holds, rank_modulo
    from separatrix.certificates.pairs import PairsCertificate
    from separatrix.certificates.rays import Places, Rays, make_rays
    from separatrix.certificates.separability import SeparabilityCertificate, kept_rows, refuse_infinite
    from separatrix.certificates.zero_one import InfeasibleRows, ZeroOneCertificate, exactly_wrong

__all__ = [
    "BiasReductionCertificate",
    "Certificate",
    "CertifiedCoef",
    "Check",
    "Clash",
    "Divergence",
    "DualBound",
    "Excess",
    "GenerativeCertificate",
    "InfeasibleRows",
    "JeffreysPoint",
    "KernelCertificate",
    "KernelMistakesCertificate",
    "KernelOptimalityCertificate",
    "LeastSquaresCertificate",
    "LikelihoodCertificate",
    "MappedCertificate",
    "MarginCertificate",
    "MistakesCertificate",
    "MixingCertificate",
    "OneVsOneCertificate",
    "OneVsRestCertificate",
    "OptimalityCertificate",
    "OverlapProof",
    "PairsCertificate",
    "Places",
    "ProofStep",
    "Rays",
    "Relation",
    "SeparabilityCertificate",
    "SignProof",
    "Verification",
    "ZeroOneCertificate",
    "certificate_from_dict",
    "class_moments",
    "closed_form",
    "cover_needs",
    "dense_relation",
    "dual_bound",
    "exact_sign_rows",
    "exactly_wrong",
    "excess_squares",
    "jeffreys_point",
    "kept_rows",
    "least_margin",
    "least_margin_below",
    "make_rays",
    "mapped_rows",
    "margin_bounds",
    "overlap_holds",
    "packing_bound",
    "rank_modulo",
    "refuse_infinite",
    "update_limit",
]

_HOMES = {
    "BiasReductionCertificate": "bias_reduction",
    "Certificate": "base",
    "CertifiedCoef": "base",
    "Check": "base",
    "Clash": "clashes",
    "Divergence": "divergence",
    "DualBound": "bounds",
    "Excess": "least_squares",
    "GenerativeCertificate": "generative",
    "InfeasibleRows": "zero_one",
    "JeffreysPoint": "bias_reduction",
    "KernelCertificate": "kernel",
    "KernelMistakesCertificate": "kernel_mistakes",
    "KernelOptimalityCertificate": "kernel_optimality",
    "LeastSquaresCertificate": "least_squares",
    "LikelihoodCertificate": "likelihood",
    "MappedCertificate": "mapped",
    "MarginCertificate": "margin",
    "MistakesCertificate": "mistakes",
    "MixingCertificate": "mixing",
    "OneVsOneCertificate": "one_vs_one",
    "OneVsRestCertificate": "base",
    "OptimalityCertificate": "optimality",
    "OverlapProof": "overlap",
    "PairsCertificate": "pairs",
    "Places": "rays",
    "ProofStep": "mistakes",
    "Rays": "rays",
    "Relation": "overlap",
    "SeparabilityCertificate": "separability",
    "SignProof": "divergence",
    "Verification": "base",
    "ZeroOneCertificate": "zero_one",
    "certificate_from_dict": "base",
    "class_moments": "generative",
    "closed_form": "generative",
    "cover_needs": "covers",
    "dense_relation": "overlap",
    "dual_bound": "bounds",
    "exact_sign_rows": "error_free",
    "exactly_wrong": "zero_one",
    "excess_squares": "least_squares",
    "jeffreys_point": "bias_reduction",
    "kept_rows": "separability",
    "least_margin": "exact",
    "least_margin_below": "margin",
    "make_rays": "rays",
    "mapped_rows": "mapped",
    "margin_bounds": "margin",
    "overlap_holds": "overlap",
    "packing_bound": "covers",
    "rank_modulo": "overlap",
    "refuse_infinite": "separability",
    "update_limit": "mistakes",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"separatrix.certificates.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix.certificates has no name {name!r}")
