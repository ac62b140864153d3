# The image for both architectures: `docker buildx bake`, and with `--push` after VERSION and IMAGE were set.
variable "IMAGE" { default = "ugs-gateway" }
variable "VERSION" { default = "0.1.0" }

group "default" { targets = ["gateway"] }

target "gateway" {
  context    = "."
  dockerfile = "Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  tags       = ["${IMAGE}:${VERSION}"]
  attest     = ["type=provenance,mode=max", "type=sbom"]
  labels = {
    "org.opencontainers.image.title"    = "UGS Gateway"
    "org.opencontainers.image.version"  = "${VERSION}"
    "org.opencontainers.image.licenses" = "Apache-2.0"
  }
}

# For this machine alone, into the local engine.
target "local" {
  inherits  = ["gateway"]
  platforms = []
  attest    = []
  output    = ["type=docker"]
}
