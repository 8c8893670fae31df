import type { Logger } from '@leasehold/core'
import { logSafely, shownValue } from '@leasehold/core/internal'
import type { Leader, LeaderElection } from '@leasehold/recipes'
import { Reflector } from '@nestjs/core'
import { at, type DiscoveredMethod, faultAt, metadataOf } from './discovered-methods.js'
import { withHeld } from './held-parameters.js'
import type { ElectionOptions, Leases } from './leases.js'

interface ElectionMethod {
  readonly name: string
  readonly options?: ElectionOptions
}

const onLeader = Reflector.createDecorator<ElectionMethod>()
const onFollower = Reflector.createDecorator<ElectionMethod>()

/**
 * Calls the method each time this instance becomes the leader of the election with this name, with the `Term`. The term lasts
 * until the lease is lost or the application shuts down, also after the method has returned; its signal then aborts, and
 * the next term begins when the method has returned. If the method throws, the term ends, and another instance can lead.
 */
export function OnLeader(name: string, options: ElectionOptions = {}): MethodDecorator {
  return onLeader({ name, options })
}

/**
 * Calls the method each time another instance is seen to lead the election with this name, with the `Leader`. An application
 * with `@OnFollower` only watches the election, and is no candidate.
 */
export function OnFollower(name: string): MethodDecorator {
  return onFollower({ name })
}

/** The names of all elections that methods take part in or watch, with the method of each. */
export function electionsOf(methods: readonly DiscoveredMethod[]): Map<string, DiscoveredMethod> {
  const found = new Map<string, DiscoveredMethod>()
  for (const method of methods) {
    for (const [decorator, key] of [['@OnLeader', onLeader] as const, ['@OnFollower', onFollower] as const]) {
      const name = metadataOf<ElectionMethod>(key, method)?.name as unknown
      if (metadataOf(key, method) === undefined) continue
      if (typeof name !== 'string' || name === '') {
        throw faultAt(method, decorator, `give the name of the election, not ${shownValue(name)}`)
      }
      if (!method.isStatic) throw faultAt(method, decorator, 'its provider is made for each request: use a singleton')
      if (!found.has(name)) found.set(name, method)
    }
  }
  return found
}

/** Makes the elections of the methods. Throws a `LeaseConfigurationError` that names the class and the method. */
export function createElections(
  methods: readonly DiscoveredMethod[],
  leases: Leases,
  logger: Logger,
): { start(): void } {
  const candidates = new Set<LeaderElection>()
  const watched: (() => void)[] = []
  for (const method of methods) {
    const leader = metadataOf<ElectionMethod>(onLeader, method)
    if (leader === undefined) continue
    const { name, options } = leader
    candidates.add(at(method, '@OnLeader', () => leases.election(name, options)))
    leases.addLeader(name, (term) => method.method.apply(method.instance, withHeld(method.method, [term], term)))
  }
  for (const method of methods) {
    const follower = metadataOf<ElectionMethod>(onFollower, method)
    if (follower === undefined) continue
    const election = at(method, '@OnFollower', () => leases.election(follower.name))
    watched.push(() => void follow(election, method, logger))
  }
  return {
    start: () => {
      for (const election of candidates) election.start()
      for (const watch of watched) watch()
    },
  }
}

/** Calls the method for each leader that is another instance, until the election is stopped. Never rejects. */
async function follow(election: LeaderElection, { method, instance, place }: DiscoveredMethod, logger: Logger) {
  const fail = (error: unknown): void => logSafely(logger, 'error', `${place}: @OnFollower failed`, error)
  try {
    for await (const leader of election.observe()) {
      if (leader === undefined || leader.owner === election.owner) continue
      await call(method, instance, leader).catch(fail)
    }
  } catch (error) {
    if (!election.closed.aborted) fail(error)
  }
}

async function call(method: DiscoveredMethod['method'], instance: object, leader: Leader): Promise<void> {
  await method.call(instance, leader)
}
