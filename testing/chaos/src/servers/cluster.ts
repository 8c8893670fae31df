import { ClientWay } from '../systems/client-way.js'
import type { RunningSystem, SystemFault } from '../systems/system.js'
import { findMember, healMembers, leaderFaults, Member, memberFaults, type Server } from './member.js'

/** A server of a cluster that clients reach at a port. */
interface ClusterServer extends Server {
  readonly port: number
  stop(): Promise<void>
}

interface ClusterOptions<S extends ClusterServer> {
  readonly servers: readonly S[]
  readonly clients: number
  /**
   * Whether this server leads the others now. It may hang, if it is frozen: the question needs a time limit. Not given where
   * the servers have no leader.
   */
  readonly isLeader?: (server: S) => Promise<boolean>
  /** What a client gets, by the ports of its ways to the servers, in their order. */
  readonly settings: (ports: readonly number[], client: number) => unknown
  /** Faults of this kind of cluster. */
  readonly faults?: (
    members: readonly Member<S>[],
    leader: () => Promise<Member<S> | undefined>,
  ) => readonly SystemFault[]
  /** Resolves when the servers work together again. */
  readonly ready?: () => Promise<void>
  /** Ends the servers, and all else that was started with them. */
  readonly stop?: () => Promise<void>
}

/** A cluster whose members are killed and frozen, the leader in particular. Each client has its own way to each member. */
export async function runCluster<S extends ClusterServer>(options: ClusterOptions<S>): Promise<RunningSystem> {
  const { servers, clients, isLeader, settings, faults, ready, stop } = options
  const members = servers.map((server) => new Member(server))
  const ports = servers.map(({ port }) => port)
  const ways = await Promise.all(Array.from({ length: clients }, (_, place) => ClientWay.to(ports, place + 1)))
  const leader = async (): Promise<Member<S> | undefined> => {
    return isLeader === undefined ? undefined : await findMember(members, isLeader)
  }
  return {
    settingsFor: (client) => settings(ways[client - 1]?.ports ?? [], client),
    faults: [
      ...memberFaults(members),
      ...(isLeader === undefined ? [] : leaderFaults(leader)),
      ...ways.flatMap((way) => way.faults),
      ...(faults?.(members, leader) ?? []),
    ],
    heal: async () => {
      for (const way of ways) way.heal()
      await healMembers(members)
      await ready?.()
    },
    stop: async () => {
      await Promise.all(ways.map((way) => way.close()))
      await Promise.all(servers.map((server) => server.stop()))
      await stop?.()
    },
  }
}
