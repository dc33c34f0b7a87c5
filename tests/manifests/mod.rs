//! Manifests against the upstream facts, and mistakes in manifests.
