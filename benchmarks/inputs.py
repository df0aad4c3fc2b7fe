"""What the benchmarks read: Frameworks as people write them, made anew for each run."""

from __future__ import annotations

from pathlib import Path

ROLE = """\
  - name: {role}
    taskNumber: {tasks}
    service:
      ports:
      - name: rendezvous
        port: 29500
    frameworkAttemptCompletionPolicy:
      minFailedTaskCount: 1
      minSucceededTaskCount: -1
    task:
      retryPolicy:
        fancyRetryPolicy: true
        maxRetryCount: 3
      podGracefulDeletionTimeoutSec: 1800
      pod:
        metadata:
          labels:
            app.kubernetes.io/name: training
            app.kubernetes.io/part-of: "{name}"
          annotations:
            example.com/rank: "{{{{FC_TASK_INDEX}}}}"
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 120
          priorityClassName: batch
          tolerations:
          - key: nvidia.com/gpu
            operator: Exists
            effect: NoSchedule
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                - matchExpressions:
                  - key: node.kubernetes.io/instance-type
                    operator: In
                    values: [p4d.24xlarge, p5.48xlarge]
          initContainers:
          - name: fetch
            image: registry.example.com/tools/fetch:1.4.2
            args: ["--dataset", "s3://datasets/imagenet", "--to", /data]
            volumeMounts:
            - name: data
              mountPath: /data
          containers:
          - name: main
            image: registry.example.com/training/{role}:2.7.1
            command: [python, -m, training.main]
            args:
            - --config=/etc/training/config.yaml
            - --rank=$(FC_TASK_INDEX)
            - --output=/results/{{{{FC_FRAMEWORK_NAME}}}}
            env:
            - name: MASTER_ADDR
              value: "{role}-0.{name}-{role}"
            - name: NCCL_DEBUG
              value: INFO
            - name: WANDB_API_KEY
              valueFrom:
                secretKeyRef:
                  name: wandb
                  key: token
            ports:
            - name: rendezvous
              containerPort: 29500
            resources:
              requests:
                cpu: "8"
                memory: 64Gi
              limits:
                cpu: "16"
                memory: 64Gi
                nvidia.com/gpu: 8
            readinessProbe:
              tcpSocket:
                port: rendezvous
              periodSeconds: 10
            securityContext:
              allowPrivilegeEscalation: false
              runAsNonRoot: true
              capabilities:
                drop: [ALL]
            volumeMounts:
            - name: data
              mountPath: /data
              readOnly: true
            - name: config
              mountPath: /etc/training
            - name: shm
              mountPath: /dev/shm
          volumes:
          - name: data
            persistentVolumeClaim:
              claimName: imagenet
          - name: config
            configMap:
              name: "{name}-config"
          - name: shm
            emptyDir:
              medium: Memory
              sizeLimit: 16Gi
"""

HEAD = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata:
  name: {name}
  namespace: research
spec:
  executionType: Start
  retryPolicy:
    fancyRetryPolicy: true
    maxRetryCount: 2
  taskRoles:
"""


def framework(name: str, roles: dict[str, int]) -> str:
    """A Framework of the given roles and task numbers, some 2.6 KB a role."""
    return HEAD.format(name=name) + "".join(ROLE.format(name=name, role=role, tasks=tasks) for role, tasks in roles.items())


def many(folder: Path, count: int) -> int:
    """`count` files of two roles, about 5 KB each; returns their size in bytes."""
    folder.mkdir(parents=True)
    size = 0
    for number in range(count):
        text = framework(f"train{number}", {"ps": 2, "worker": 8})
        size += (folder / f"train{number:05}.yaml").write_text(text)
    return size
