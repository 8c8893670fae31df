import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { StoreCall } from '../store/store-call.js'
import type { CasEntry, CasRegister, CasVersion } from './cas-register.js'

/**
 * The fencing token of the next grant of a name: one more than the stored token, and at least the creation time of the
 * entry and the store's own time, as far as the register gives them. The stored token alone is not enough: an older entry
 * can return from a backup or a copy. 0 where the token is that of the write itself, unless the stored token was raised above
 * the versions.
 */
export async function nextToken<V extends CasVersion>(
  register: CasRegister<V>,
  name: string,
  entry: CasEntry<V>,
  call: StoreCall,
): Promise<bigint> {
  const { record, version } = entry
  if (register.tokenOf !== undefined) {
    return record.fencingToken > register.tokenOf(version) ? record.fencingToken + 1n : 0n
  }
  const time = register.timeAfter === undefined ? 0n : await register.timeAfter(name, version, call)
  return tokenAfter(entry, time, register.kind)
}

/** The token after that of this entry. `time`: of the store itself, after the write of the entry; 0 if it gives none. */
export function tokenAfter(
  { record, createdAt }: Omit<CasEntry<CasVersion>, 'version'>,
  time: number | bigint,
  kind?: string,
): bigint {
  const candidates = [record.fencingToken + 1n, toWhole(createdAt ?? 0n, kind), toWhole(time, kind)]
  return candidates.reduce((largest, candidate) => (candidate > largest ? candidate : largest))
}

/** Rounds up, because a token must not be smaller than the time. */
function toWhole(time: number | bigint, kind = 'cas'): bigint {
  if (typeof time === 'bigint' && time >= 0n) return time
  if (typeof time === 'number' && time >= 0 && time <= Number.MAX_SAFE_INTEGER) return BigInt(Math.ceil(time))
  throw new LeaseConfigurationError(
    `the ${kind} register gives the time ${String(time)}: timeAfter and createdAt must be a number of milliseconds, ` +
      `0 to ${Number.MAX_SAFE_INTEGER}, or a bigint`,
    { store: kind },
  )
}
