{{- define "stile.name" -}}
{{- if contains "stile" .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- else -}}{{ printf "%s-stile" (.Release.Name | trunc 44 | trimSuffix "-") }}{{- end -}}
{{- end -}}

{{- define "stile.selector" -}}
app.kubernetes.io/name: stile
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "stile.labels" -}}
{{ include "stile.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "stile.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ printf "%s@%s" .repository .digest }}{{- else -}}{{ printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "stile.serviceAccount" -}}
{{ .Values.serviceAccount.existing | default (include "stile.name" .) }}
{{- end -}}

{{/* What has to be known before anything is made. */}}
{{- define "stile.require" -}}
{{- if not .Values.secrets.existing -}}
{{- $replicas := ternary .Values.autoscaling.minReplicas .Values.replicas .Values.autoscaling.enabled -}}
{{- fail (printf "secrets.existing is missing: name a Secret with DATABASE_URL, SECRET_KEYS and SMTP_URL. The image has no embedded PostgreSQL, and %d replicas could not share one: they need one server." (int $replicas)) -}}
{{- end -}}
{{- if not .Values.baseUrl -}}{{- fail "baseUrl is missing: the public address of the service, such as https://login.example.com" -}}{{- end -}}
{{- range $name := .Files.Lines "secret-settings.txt" -}}
{{- if hasKey $.Values.settings $name -}}{{- fail (printf "settings.%s is a secret: put it into the Secret that secrets.existing names" $name) -}}{{- end -}}
{{- end -}}
{{- range $name, $value := dict "BASE_URL" "baseUrl" "PORT" "service.port" "STILE_SERVER_WORKERS" "workers" "STILE_DATABASE_POOL_SIZE" "poolSize" "STILE_SERVER_SHUTDOWN_TIMEOUT" "shutdownSeconds" "STILE_SERVER_TRUSTED_PROXIES" "trustedProxies" "STILE_METRICS_PORT" "metrics.port" "STILE_METRICS_HOST" "metrics.enabled" -}}
{{- if hasKey $.Values.settings $name -}}{{- fail (printf "settings.%s is what the value %s sets" $name $value) -}}{{- end -}}
{{- end -}}
{{/* Helm 3 takes a number of pods that stood in the former revision and is stated no more out of the Deployment, which then has one. */}}
{{- if and .Values.autoscaling.enabled (semverCompare "<4.0.0-0" .Capabilities.HelmVersion.Version) -}}
{{- fail (printf "autoscaling.enabled needs Helm 4: %s would end all pods but one when the autoscaler takes over their number" .Capabilities.HelmVersion.Version) -}}
{{- end -}}
{{- end -}}

{{- define "stile.environment" -}}
- name: BASE_URL
  value: {{ .Values.baseUrl | quote }}
- name: STILE_SERVER_WORKERS
  value: {{ .Values.workers | quote }}
- name: STILE_DATABASE_POOL_SIZE
  value: {{ .Values.poolSize | quote }}
- name: STILE_SERVER_SHUTDOWN_TIMEOUT
  value: {{ .Values.shutdownSeconds | quote }}
{{- with .Values.trustedProxies }}
- name: STILE_SERVER_TRUSTED_PROXIES
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.metrics.enabled }}
- name: STILE_METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
- name: STILE_METRICS_HOST
  value: "0.0.0.0"
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "stile.secrets" -}}
- secretRef:
    name: {{ .Values.secrets.existing }}
{{- range .Values.secrets.further }}
- secretRef:
    name: {{ . }}
{{- end }}
{{- end -}}

{{- define "stile.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "stile.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/*
The pods to run. When an autoscaler is switched on, those that run, because a Deployment of which nothing states the number has
one. Once it has scaled them, none is stated: the number is the autoscaler's. Without a cluster to ask (helm template), none
either: each application of the manifests would undo what it did.
*/}}
{{- define "stile.replicas" -}}
{{- $scaled := .Values.autoscaling -}}
{{- if not $scaled.enabled -}}
{{- .Values.replicas -}}
{{- else if lookup "apps/v1" "Deployment" .Release.Namespace "" -}}
{{- $running := lookup "apps/v1" "Deployment" .Release.Namespace (include "stile.name" .) -}}
{{- $isScaled := false -}}
{{- range dig "metadata" "managedFields" list $running -}}
{{- if eq (.subresource | default "") "scale" }}{{ $isScaled = true }}{{ end -}}
{{- end -}}
{{- if not $isScaled }}{{ max (int $scaled.minReplicas) (int (dig "spec" "replicas" 0 $running)) }}{{ end -}}
{{- end -}}
{{- end }}
