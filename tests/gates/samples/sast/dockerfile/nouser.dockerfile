FROM python:3.12.3-slim
COPY . /app
# ruleid: swarmgate.dockerfile.no-user
CMD ["python", "/app/main.py"]
