import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { defaultLogger } from '../logger.js'
import { createOwner } from '../owner.js'
import { toLeaseSettings } from '../provider/lease-block.js'
import { loadFactory } from '../provider/load-factory.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { AbortableCall } from '../store/store-call.js'
import { StoreLease } from '../store-lease.js'
import { systemClock } from '../system-clock.js'
import { callPlaces, type OpenedStore, type StoreMethod, type StoreSpec } from './thread-messages.js'

/** Opens the store of the leases that a `lease-class` makes. */
export async function openStore({ leaseClass, file, path, options, leaseName }: StoreSpec): Promise<LeaseStore> {
  const factory = await loadFactory(leaseClass, { path, file, factories: {} })
  // The lease that is made here is used for its store only, and its own heartbeats would be sent by this thread anyway.
  const { unresponsiveAfter: _, ...block } = options
  const lease = await factory(toLeaseSettings(leaseName, createOwner(), block), {
    configPath: path,
    clock: systemClock,
    logger: defaultLogger,
    share: async (_key, open) => await open(),
  })
  const { store } = lease as Partial<StoreLease>
  // A lease of another copy of this package has the same name.
  const isPlain = lease.constructor.name === StoreLease.name
  if (store !== undefined && isPlain) return store
  throw new LeaseConfigurationError(
    `the lease-class of '${path}' makes leases ${store === undefined ? 'without a store' : 'of a class of its own'}, which ` +
      'cannot be kept by a heartbeat thread: switch heartbeat-thread off',
    { leaseName },
  )
}

export function describeStore(store: LeaseStore): OpenedStore {
  const methods = Object.keys(callPlaces) as StoreMethod[]
  return {
    kind: store.kind,
    limits: { ...store.limits },
    methods: methods.filter((method) => store[method] !== undefined),
  }
}

/** Makes one call of the user of the leases. `onItem` gets the values of an iterable. */
export async function callStore(
  store: LeaseStore,
  method: StoreMethod,
  given: readonly unknown[],
  call: AbortableCall,
  onItem: (value: unknown) => void,
): Promise<unknown> {
  const args = [...given]
  args[callPlaces[method]] = call
  const ask = store[method] as unknown as (...args: readonly unknown[]) => unknown
  const answer = ask.apply(store, args)
  if (!isIterable(answer)) return await answer
  for await (const value of answer) {
    if (call.aborted) return undefined
    onItem(value)
  }
  return undefined
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
