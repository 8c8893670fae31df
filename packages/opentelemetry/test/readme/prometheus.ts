// #region example
import { instrumentLeases, type LeaseInstrumentation } from '@leasehold/opentelemetry'
import { metrics } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** Shows the leases of this process at http://localhost:9464/metrics. */
export function showLeases(port = 9464): LeaseInstrumentation {
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new PrometheusExporter({ port })] }))
  return instrumentLeases()
}
// #endregion example
