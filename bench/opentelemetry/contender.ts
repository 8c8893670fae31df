import { createLease } from '@leasehold/core'
import { instrumentLeases } from '@leasehold/opentelemetry'
import { RedisLeaseStore } from '@leasehold/redis'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { Redis } from 'ioredis'
import { Racer } from '../support/cycles.js'

/** `off`: no subscriber. `no sdk`: subscribed, without a provider. The others record metrics, and this part of the traces. */
export const contenders = {
  off: undefined,
  'no sdk': undefined,
  metrics: 0,
  'traces of 1 %': 0.01,
  'all traces': 1,
} as const

export type ContenderName = keyof typeof contenders

export interface Task {
  readonly contender: ContenderName
  readonly port: number
  readonly inFlight: number
}

export function openRacer({ contender, port, inFlight }: Task): Racer {
  const part = contenders[contender]
  if (contender === 'no sdk') instrumentLeases()
  if (part !== undefined) instrumentWith(part)
  const store = new RedisLeaseStore(new Redis({ port }))
  return new Racer(
    Array.from({ length: inFlight }, (_, lane) => {
      const lease = createLease(store, `cycle-${lane}`, { heartbeatTimeout: 30_000 })
      return async () => {
        if (!(await lease.acquire())) throw new Error(`cycle-${lane} is held by another owner`)
        await lease.release()
      }
    }),
  )
}

/** As a service does it: metrics are collected every ten seconds, and spans are exported in batches. */
function instrumentWith(part: number): void {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 10_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  if (part === 0) {
    instrumentLeases({ meterProvider })
    return
  }
  const tracerProvider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(part) }),
    spanProcessors: [new BatchSpanProcessor(new ForgetfulExporter())],
  })
  instrumentLeases({ meterProvider, tracerProvider })
}

class ForgetfulExporter {
  export(_spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    done({ code: 0 })
  }

  async shutdown(): Promise<void> {}
}
