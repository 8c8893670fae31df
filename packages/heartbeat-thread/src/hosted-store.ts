import { defaultLogger, LeaseConfigurationError, type LeaseStore, systemClock } from '@leasehold/core'
import { createOwner, isPlainStoreLease, loadFactory, toLeaseSettings } from '@leasehold/core/internal'
import type { AbortableCall } from '@leasehold/core/store'
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
  if (isPlainStoreLease(lease)) return lease.store
  throw new LeaseConfigurationError(
    `the lease-class of '${path}' makes leases of a class of its own, which ` +
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
