import type { Grant, Metadata } from '@leasehold/core'
import type { AcquireOutcome, ReleaseOutcome, StoreCall } from '@leasehold/core/store'
import { leftIn, releaseOutcome, toDuration, toGrantId } from '../answers.js'
import type { RedisClient } from '../client/redis-client.js'
import { LeaseOperations } from '../lease-operations.js'
import { misconfigured, type RedisLeaseStoreOptions } from '../redis-options.js'
import { memberScript, memberScriptWith } from './member-script.js'

/**
 * The key of a fencing token in the metadata that the last holder left: that of this holder. A quorum needs it to find the
 * latest among the metadata of its members, and removes it.
 */
export const TOKEN_KEY = '\0token'

/** The floor of a member: no token that it gives is smaller. */
export interface Floor {
  /** `undefined` if the member has lost its data, or was never used. */
  readonly floor: bigint | undefined
  /** The clock of the member, in microseconds. */
  readonly now: bigint
}

/**
 * One of the independent servers of a quorum. Its fencing tokens have a floor: without one, all operations that give a token
 * reject with a `NoFloorError`.
 */
export class RedisMember extends LeaseOperations {
  /** Throws a `LeaseConfigurationError` if the client is that of a cluster. */
  constructor(client: RedisClient, options: RedisLeaseStoreOptions = {}) {
    super(client, options, { script: memberScript, scriptWith: memberScriptWith, hasFloor: true, readLeft: withToken })
    if (!this.areTogether) {
      throw misconfigured('the servers of a quorum must be independent: the client of a cluster cannot be one of them')
    }
  }

  /** Gives the grant in force a larger fencing token, if it has a smaller one. */
  agree(grant: Grant, fencingToken: bigint, call: StoreCall): Promise<AcquireOutcome> {
    return this.grant('agree', grant, `${toGrantId(grant.grantId)} ${fencingToken}`, call)
  }

  /** Restores a grant of a majority on a member that has lost it, under its fencing token. */
  repair(grant: Grant, metadata: Metadata, previous: Metadata | undefined, call: StoreCall): Promise<AcquireOutcome> {
    const { owner, grantId, ttl, fencingToken } = grant
    const claim = `${toGrantId(grantId)} ${toDuration(ttl)} ${fencingToken} ${JSON.stringify(metadata)}`
    return this.grant('repair', grant, `${claim}\n${toLeft(previous)}\n${owner}`, call)
  }

  /** Releases a claim that found no majority, and restores the metadata of the last holder. */
  retract({ name, grantId }: Grant, call: StoreCall): Promise<ReleaseOutcome> {
    return this.run('retract', name, toGrantId(grantId), call, releaseOutcome)
  }

  /** `name` is for errors. */
  floor(name: string, call: StoreCall): Promise<Floor> {
    return this.run('floor', name, '', call, ([, floor = '', now = '0']) => {
      return { floor: floor === '' ? undefined : BigInt(floor), now: BigInt(now) }
    })
  }

  /** Raises the floor, if it is smaller. */
  learn(name: string, floor: bigint, call: StoreCall): Promise<void> {
    return this.run('learn', name, String(floor), call, () => undefined)
  }
}

function withToken(left: string): Metadata {
  return { ...leftIn(left), [TOKEN_KEY]: left.slice(0, left.indexOf(' ')) }
}

/** As the script stores it: the token of the holder that left it, then its metadata. */
function toLeft(previous: Metadata | undefined): string {
  if (previous === undefined) return ''
  const { [TOKEN_KEY]: token = '0', ...metadata } = previous
  return `${token} ${JSON.stringify(metadata)}`
}
