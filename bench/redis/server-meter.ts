import { openClient, type RedisClient } from './redis-client.js'

export interface ServerReading {
  /** Commands that were executed, those that scripts call included, without those of this meter. */
  readonly commands: number
  /** Processor time of the server, in milliseconds. */
  readonly cpu: number
}

/** Reads the counters of the server over a connection of its own. */
export class ServerMeter {
  readonly #client: RedisClient

  constructor(port: number) {
    this.#client = openClient(port)
  }

  async read(): Promise<ServerReading> {
    const cpu = await this.#client.info('cpu')
    const stats = await this.#client.info('commandstats')
    const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].filter(([, command]) => command !== 'info')
    return {
      commands: calls.reduce((sum, [, , count]) => sum + Number(count), 0),
      cpu: (secondsOf(cpu, 'used_cpu_user') + secondsOf(cpu, 'used_cpu_sys')) * 1_000,
    }
  }

  close(): void {
    this.#client.disconnect()
  }
}

function secondsOf(info: string, field: string): number {
  return Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1])
}

/** The version that the server says it has. */
export async function serverVersion(port: number): Promise<string> {
  const client = openClient(port)
  const info = await client.info('server')
  client.disconnect()
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown'
}
