import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { checkOptionNames } from '../errors/option-names.js'
import type { LeaseStore } from '../store/lease-store.js'
import { type CreateLeaseOptions, createLease } from '../store-lease/create-lease.js'
import { listLeases } from '../store-lease/operations.js'
import { KIND } from './migrating-store.js'

/** How many leases are copied side by side. */
const AT_ONCE = 16

/** The leases to copy, and the settings with which each is held for a moment. */
export interface CopyLeasesOptions extends Pick<CreateLeaseOptions, 'clock' | 'logger' | 'heartbeatTimeout'> {
  /** Only names that start with it; all names unless given. */
  readonly prefix?: string | undefined
  /** The names themselves, where one of the stores cannot list them. */
  readonly names?: Iterable<string> | undefined
}

/** The names by their outcome. */
export interface CopiedLeases {
  /** In both stores now, with the same fencing token and metadata. */
  readonly copied: readonly string[]
  /** Held by others, who copy them if they are migrating processes. */
  readonly held: readonly string[]
}

/**
 * Copies the leases that nobody holds, with their fencing tokens and metadata: acquires each in both stores, and releases it.
 * Leases that are acquired are copied anyway. Run it once, when all processes use `migrate(from, to)`, and before the first
 * one uses `to` alone. A lease that is not copied loses its metadata in `to`, and its fencing tokens start again from the numbers
 * of `to`. It can be repeated, and run beside holders.
 *
 * Rejects with a `LeaseConfigurationError` if the store is not one of `migrate`, or cannot list names and none are given, and
 * with the error of the first lease that could not be copied.
 */
export async function copyLeases(store: LeaseStore, options: CopyLeasesOptions = {}): Promise<CopiedLeases> {
  const known = { prefix: true, names: true, clock: true, logger: true, heartbeatTimeout: true } as const
  checkOptionNames<CopyLeasesOptions>('copyLeases', options, known)
  const { prefix = '', names, ...own } = options
  if (store?.kind !== KIND) {
    throw new LeaseConfigurationError('copyLeases takes the store that migrate(from, to) returns: give it that one')
  }
  const copied: string[] = []
  const held: string[] = []
  const waiting = [...(names ?? (await namesIn(store, prefix, own)))].filter((name) => name.startsWith(prefix))
  const copyOneByOne = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const lease = createLease(store, name, own)
      const isHeld = await lease.acquire()
      if (isHeld) await lease.release()
      const outcome = isHeld ? copied : held
      outcome.push(name)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, copyOneByOne))
  return { copied: copied.sort(), held: held.sort() }
}

async function namesIn(
  store: LeaseStore,
  prefix: string,
  options: Pick<CopyLeasesOptions, 'clock'>,
): Promise<readonly string[]> {
  if (store.list === undefined) {
    throw new LeaseConfigurationError('copyLeases: one of the stores cannot list its names: give them as names')
  }
  const names: string[] = []
  for await (const { name } of listLeases(store, prefix, { clock: options.clock })) names.push(name)
  return names
}
