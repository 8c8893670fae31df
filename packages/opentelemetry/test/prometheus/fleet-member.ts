import { startProgram } from '@leasehold/testing'
import { httpGet } from '@leasehold/testing/http-get'
import type { PrometheusServer } from '@leasehold/testing/prometheus-server'

/** The durations of a lease, in milliseconds. */
export interface MemberTimes {
  readonly heartbeatTimeout: number
  readonly heartbeatInterval: number
  readonly operationTimeout: number
}

/** One task of a process of the fleet. */
export interface MemberPart {
  readonly kind: 'hold' | 'queue' | 'lead' | 'schedule' | 'partitions'
  /** Of the lease or the recipe. */
  readonly name: string
  /** Of its Redis, on 127.0.0.1. */
  readonly port: number
  readonly times: MemberTimes
  /** Of the keys of its store: two prefixes are two stores. */
  readonly prefix?: string
  /** Of a schedule: the time between two ticks, in milliseconds. */
  readonly every?: number
  /** Callers, or partitions. */
  readonly count?: number
}

/** A process of the fleet. */
export interface Member {
  readonly port: number
  freeze(): void
  thaw(): void
  kill(): Promise<void>
  /** Begins another task. */
  start(part: MemberPart): Promise<void>
  /** Ends the task of this name. */
  stop(name: string): Promise<void>
  /** Blocks its event loop for this long, in milliseconds. */
  block(duration: number): Promise<void>
}

/** Starts a process, which Prometheus scrapes from then on. */
export async function startMember(
  prometheus: PrometheusServer,
  instance: string,
  ...parts: readonly MemberPart[]
): Promise<Member> {
  const program = await startProgram(new URL('./member.ts', import.meta.url), [JSON.stringify(parts)])
  const port = Number(program.output)
  prometheus.scrape(instance, port)
  const send = async (command: string, parameters: Record<string, string>): Promise<void> => {
    const url = `http://127.0.0.1:${port}/${command}?${new URLSearchParams(parameters)}`
    await httpGet(url)
  }
  return {
    port,
    freeze: () => program.freeze(),
    thaw: () => program.thaw(),
    kill: () => program.kill(),
    start: (part) => send('start', { part: JSON.stringify(part) }),
    stop: (name) => send('stop', { name }),
    block: (duration) => send('block', { duration: String(duration) }),
  }
}
