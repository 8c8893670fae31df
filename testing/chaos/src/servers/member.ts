import type { SystemFault } from '../systems/system.js'

/** A server of a cluster, in a process of its own. */
export interface Server {
  freeze(): void
  thaw(): void
  kill(): Promise<void>
  /** Starts its process again with its data; the others may be down. */
  launch(): Promise<void>
  /** Resolves when it is well. */
  ready(): Promise<void>
}

/**
 * A server under several faults at a time, such as one of its own and one of the leader: it runs again when the last of them
 * is over.
 */
export class Member<S extends Server = Server> {
  readonly server: S
  #kills = 0
  #freezes = 0

  constructor(server: S) {
    this.server = server
  }

  get isDown(): boolean {
    return this.#kills > 0
  }

  async kill(): Promise<void> {
    this.#kills += 1
    if (this.#kills === 1) await this.server.kill()
  }

  async revive(): Promise<void> {
    if (this.#kills === 0) return
    this.#kills -= 1
    if (this.#kills === 0) await this.server.launch()
  }

  freeze(): void {
    this.#freezes += 1
    if (!this.isDown) this.server.freeze()
  }

  thaw(): void {
    if (this.#freezes === 0) return
    this.#freezes -= 1
    if (this.#freezes === 0) this.server.thaw()
  }

  /** Ends all faults; resolves when the server is well. */
  async heal(): Promise<void> {
    while (this.#freezes > 0) this.thaw()
    while (this.isDown) await this.revive()
  }
}

/** How long a server is down or frozen, in milliseconds: shorter than a grant, and longer. */
const OUTAGE = [200, 5_000] as const

/** Faults of the leader are drawn more often than those of one server: all work goes through it. */
const LEADER_WEIGHT = 2

/** This server is killed and started again, or frozen. `what`: the end of the kinds of its faults. */
export function outages(member: Member, target: string, what: string): readonly SystemFault[] {
  return [
    { kind: `kill-${what}`, target, lasts: OUTAGE, begin: () => member.kill(), end: () => member.revive() },
    { kind: `freeze-${what}`, target, lasts: OUTAGE, begin: () => member.freeze(), end: () => member.thaw() },
  ]
}

/** Each member is killed and started again, or frozen. Two may be down at a time: then the cluster has no quorum. */
export function memberFaults(members: readonly Member[]): readonly SystemFault[] {
  return members.flatMap((member, place) => outages(member, `server ${place + 1}`, 'server'))
}

/** The leader is killed or frozen, whichever member it is then; nothing happens while there is none. */
export function leaderFaults<S extends Server>(leader: () => Promise<Member<S> | undefined>): readonly SystemFault[] {
  let target: Member<S> | undefined
  const begin = async (act: (member: Member<S>) => Promise<void> | void): Promise<void> => {
    target = await leader()
    if (target !== undefined) await act(target)
  }
  return [
    {
      kind: 'kill-leader',
      target: 'leader',
      weight: LEADER_WEIGHT,
      lasts: OUTAGE,
      begin: () => begin((member) => member.kill()),
      end: () => target?.revive(),
    },
    {
      kind: 'freeze-leader',
      target: 'leader',
      weight: LEADER_WEIGHT,
      lasts: OUTAGE,
      begin: () => begin((member) => member.freeze()),
      end: () => target?.thaw(),
    },
  ]
}

/** Something that is done at once, such as a transfer of the leadership. The cluster may be unable to do it at the moment. */
export function operatorFault(kind: string, act: () => Promise<void>): SystemFault {
  return { kind, target: 'cluster', lasts: [0, 0], begin: () => act().catch(() => {}), end: () => {} }
}

/** Ends all faults of the members; resolves when all are well. */
export async function healMembers(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.heal()))
  await Promise.all(members.map(({ server }) => server.ready()))
}

/** The first member that says that it leads; one that does not answer does not count. */
export async function findMember<S extends Server>(
  members: readonly Member<S>[],
  isLeader: (server: S) => Promise<boolean>,
): Promise<Member<S> | undefined> {
  const asked = members.map(async (member) => {
    if (!member.isDown && (await isLeader(member.server))) return member
    throw new Error('it does not lead')
  })
  return await Promise.any(asked).catch(() => undefined)
}
