# The app in a container: an ordinary user, and a root that can be read-only. docs/hosting.md says how to run it.
# An image can be fixed by its digest: --build-arg BASE=python:3.11-slim@sha256:…
ARG BASE=python:3.11-slim
FROM $BASE

# Another index to take torch from. PyTorch's own, of builds for the CPU, makes the image gigabytes smaller.
ARG TORCH_INDEX

# requirements-serve.txt for the machines of a cluster that holds the models.
ARG REQUIREMENTS=requirements.txt

WORKDIR /app
COPY constraints.txt requirements.txt requirements-serve.txt requirements-redis.txt ./
# Torch alone: of the others, that index could offer newer ones than PyPI's, and pip would take those.
RUN test -z "$TORCH_INDEX" || pip install --no-cache-dir --no-deps --index-url "$TORCH_INDEX" \
    "$(grep -o '^torch==[^ ]*' constraints.txt)"
RUN pip install --no-cache-dir -r "$REQUIREMENTS" -r requirements-redis.txt
COPY . .
RUN python -m compileall -q . && mkdir /models && chown 10001:10001 /models

# Written to: /models, where models from the hub are kept, and /tmp. Without a HOME Streamlit would not start: the user
# has no name.
ENV HOME=/tmp HF_HOME=/models INSIDE_BERT_HOSTED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
VOLUME /models
EXPOSE 8501

HEALTHCHECK --interval=30s --timeout=25s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=24)"]
CMD ["streamlit", "run", "app.py", "--server.headless=true", "--server.address=0.0.0.0", "--server.port=8501"]
