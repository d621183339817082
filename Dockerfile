# docker build --tag reldep .
# docker run --rm -v "$PWD:/data" reldep compare mice.csv --source diet --first 'C*' --second 'gene_*'
# docker run --rm -it -p 127.0.0.1:8000:8000 reldep app --host 0.0.0.0 --port 8000
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
LABEL org.opencontainers.image.title="reldep" \
      org.opencontainers.image.description="Which dependence is stronger?" \
      org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.source="https://github.com/reldep/reldep"
COPY --from=build /wheels /wheels
# hadolint ignore=DL3013
RUN wheel="$(ls /wheels/reldep-*.whl)" \
    && python -m pip install --no-cache-dir "${wheel}[all]" \
    && useradd --create-home --uid 1000 reldep
# What is compiled and drawn may be kept anywhere that can be written; the rest can be read-only.
ENV NUMBA_CACHE_DIR=/tmp/numba \
    MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONDONTWRITEBYTECODE=1
USER 1000
WORKDIR /data
EXPOSE 8000
ENTRYPOINT ["reldep"]
CMD ["--help"]
