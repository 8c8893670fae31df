import { createRequire } from 'node:module'
import type { Attributes, ContextManager } from '@opentelemetry/api'
import type { DataPoint, Histogram, MeterProvider, MetricData, MetricReader } from '@opentelemetry/sdk-metrics'
import type { BasicTracerProvider, InMemorySpanExporter, ReadableSpan } from '@opentelemetry/sdk-trace-base'

/** The third SDK needs Node 22. */
const isThird = Number(process.versions.node.split('.')[0]) >= 22

const load = createRequire(
  isThird ? new URL('../../../../testing/opentelemetry-sdk-3/package.json', import.meta.url) : import.meta.url,
)
const api = load('@opentelemetry/api') as typeof import('@opentelemetry/api')
const sdkMetrics = load('@opentelemetry/sdk-metrics') as typeof import('@opentelemetry/sdk-metrics')
const sdkTrace = load(
  isThird ? '@opentelemetry/sdk-trace' : '@opentelemetry/sdk-trace-base',
) as typeof import('@opentelemetry/sdk-trace-base')
const hooks = load('@opentelemetry/context-async-hooks') as {
  AsyncLocalStorageContextManager: new () => ContextManager
}

/** The major version of the SDK of these tests. */
export const sdkVersion = 'TracerProvider' in sdkTrace ? 3 : 2

class OnDemandReader extends sdkMetrics.MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** The metrics and spans of one test, in memory. */
export class Telemetry {
  readonly meterProvider: MeterProvider
  readonly tracerProvider: BasicTracerProvider
  readonly #reader: MetricReader = new OnDemandReader()
  readonly #spans: InMemorySpanExporter = new sdkTrace.InMemorySpanExporter()

  constructor() {
    const { SimpleSpanProcessor, BasicTracerProvider = (sdkTrace as never as Third).TracerProvider } = sdkTrace
    // The second SDK takes the exporter, and the third one options.
    const processor = new SimpleSpanProcessor(sdkVersion === 2 ? this.#spans : ({ exporter: this.#spans } as never))
    this.meterProvider = new sdkMetrics.MeterProvider({ readers: [this.#reader] })
    this.tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] })
  }

  /** The metrics at this moment, by their names. */
  async metrics(): Promise<Map<string, MetricData>> {
    const { resourceMetrics, errors } = await this.#reader.collect()
    if (errors.length > 0) throw errors[0]
    const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
    return new Map(all.map((metric) => [metric.descriptor.name, metric]))
  }

  /** The series of one instrument: the attributes of each, and its value, or the count and the sum of a histogram. */
  async series(name: string): Promise<(Attributes & { readonly value: number; readonly sum?: number })[]> {
    const metric = (await this.metrics()).get(name)
    return ((metric?.dataPoints ?? []) as DataPoint<number | Histogram>[]).map(({ attributes, value }) =>
      typeof value === 'number' ? { ...attributes, value } : { ...attributes, value: value.count, sum: value.sum ?? 0 },
    )
  }

  /** The spans that have ended. */
  spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans()
  }

  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans().filter((each) => each.name === name)
    if (span === undefined || others.length > 0) {
      const names = this.spans().map((each) => each.name)
      throw new Error(`there are ${others.length + (span ? 1 : 0)} spans '${name}', among ${names.join(', ')}`)
    }
    return span
  }

  async shutdown(): Promise<void> {
    await this.meterProvider.shutdown()
    await this.tracerProvider.shutdown()
  }
}

interface Third {
  readonly TracerProvider: typeof BasicTracerProvider
}

/** Keeps the context of OpenTelemetry across `await`, as an SDK does. Returns what ends it. */
export function keepContext(): () => void {
  const manager = new hooks.AsyncLocalStorageContextManager().enable()
  api.context.setGlobalContextManager(manager)
  return () => api.context.disable()
}
