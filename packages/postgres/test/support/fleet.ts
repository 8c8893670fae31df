import { fileURLToPath } from 'node:url'
import type { PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { Fleet } from '@leasehold/testing/fleet'

/** The task of one process. */
export interface Contest {
  /** Where it connects on this machine. */
  readonly port: number
  readonly owner: string
  /** It contends for each of them, again and again. */
  readonly names: readonly string[]
  readonly times: {
    readonly heartbeatTimeout: number
    readonly heartbeatInterval: number
    readonly operationTimeout: number
  }
  /** For how long it holds before it releases, in milliseconds. */
  readonly work: number
  /** Of its pool, at most. */
  readonly connections: number
  readonly options?: PostgresLeaseStoreOptions
}

/** Processes of `contender.ts`, bundled into a folder. */
export function contenders(folder: string): Promise<Fleet<Contest>> {
  return Fleet.create(folder, fileURLToPath(new URL('./contender.ts', import.meta.url)))
}
