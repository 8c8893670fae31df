import { randomUUID } from 'node:crypto'
import type { StoragePipelineOptions } from '@azure/storage-blob'
import { type AzureBlobLease, AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'
import type { CreateLeaseOptions, LeaseLost } from '@leasehold/core'

import type { Azurite } from './azurite.js'
import { granted, never, TTL } from './claims.js'
import { ServiceProxy } from './service-proxy.js'

/** Leaves time for a claim that creates its blob, and for several heartbeats within the ttl. */
export const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_500, operationTimeout: 3_000 }

/** The context of a test, for its end. */
export interface Finishing {
  onTestFinished(end: () => unknown): unknown
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A lease whose requests go through a proxy of its own, to a container of its own. */
export class Proxied {
  readonly name = 'job'
  readonly lost: LeaseLost[] = []
  readonly events: string[] = []
  readonly proxy: ServiceProxy
  readonly store: AzureBlobLeaseStore
  /** Nothing stands before it. */
  readonly outside: AzureBlobLeaseStore
  readonly lease: AzureBlobLease

  private constructor(
    azurite: Azurite,
    proxy: ServiceProxy,
    pipeline: StoragePipelineOptions | undefined,
    options: CreateLeaseOptions,
  ) {
    const container = `proxied-${randomUUID()}`
    this.proxy = proxy
    this.store = new AzureBlobLeaseStore(azurite.service(pipeline, proxy.port).getContainerClient(container))
    this.outside = new AzureBlobLeaseStore(azurite.container(container))
    this.lease = createAzureBlobLease(this.store, this.name, { ...times, logger: quiet, ...options })
    for (const event of ['jeopardy', 'recovered', 'renewed'] as const) {
      this.lease.on(event, () => void this.events.push(event))
    }
  }

  static async open(
    test: Finishing,
    azurite: Azurite,
    pipeline?: StoragePipelineOptions,
    options: CreateLeaseOptions = {},
  ): Promise<Proxied> {
    const proxied = new Proxied(azurite, await ServiceProxy.start(azurite.port), pipeline, options)
    test.onTestFinished(async () => {
      proxied.proxy.heal()
      // A request can still wait for an answer after a fault.
      await proxied.lease.close().catch(() => {})
      await proxied.proxy.stop()
    })
    return proxied
  }

  /** As {@link open}, and acquired. */
  static async held(
    test: Finishing,
    azurite: Azurite,
    pipeline?: StoragePipelineOptions,
    options: CreateLeaseOptions = {},
  ): Promise<Proxied> {
    const proxied = await Proxied.open(test, azurite, pipeline, options)
    // The blob is there: the first claim of a name waits until the second is over in which it was made.
    await proxied.outside.release(await granted(proxied.outside, proxied.name), never)
    if (!(await proxied.acquire({ wait: TTL }))) throw new Error('not granted')
    return proxied
  }

  acquire(options: { readonly wait?: number } = {}): Promise<boolean> {
    return this.lease.acquire({ ...options, onLost: (lost) => void this.lost.push(lost) })
  }
}
