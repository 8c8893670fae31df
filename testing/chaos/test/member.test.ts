import { describe, expect, it } from 'vitest'
import { findMember, leaderFaults, Member, type Server } from '../src/servers/member.js'

/** A server that only remembers what was done to it. */
class RememberedServer implements Server {
  readonly deeds: string[] = []

  freeze(): void {
    this.deeds.push('freeze')
  }

  thaw(): void {
    this.deeds.push('thaw')
  }

  async kill(): Promise<void> {
    this.deeds.push('kill')
  }

  async launch(): Promise<void> {
    this.deeds.push('launch')
  }

  async ready(): Promise<void> {
    this.deeds.push('ready')
  }
}

describe('a member', () => {
  it('under two faults that kill it runs again when both are over', async () => {
    const server = new RememberedServer()
    const member = new Member(server)
    await member.kill()
    await member.kill()
    await member.revive()
    expect(member.isDown).toBe(true)
    await member.revive()
    expect(member.isDown).toBe(false)
    expect(server.deeds).toEqual(['kill', 'launch'])
  })

  it('under two faults that freeze it continues when both are over', () => {
    const server = new RememberedServer()
    const member = new Member(server)
    member.freeze()
    member.freeze()
    member.thaw()
    expect(server.deeds).not.toContain('thaw')
    member.thaw()
    expect(server.deeds.at(-1)).toBe('thaw')
  })

  it('that is healed runs, and the ends of its faults do nothing more', async () => {
    const server = new RememberedServer()
    const member = new Member(server)
    await member.kill()
    member.freeze()
    await member.heal()
    const healed = [...server.deeds]
    await member.revive()
    member.thaw()
    expect(member.isDown).toBe(false)
    expect(healed).toContain('launch')
    expect(server.deeds).toEqual(healed)
  })
})

describe('the leader', () => {
  it('is the first member that says so: one that is down, or does not answer, is passed over', async () => {
    const members = Array.from({ length: 3 }, () => new Member(new RememberedServer()))
    const [down, silent, leader] = members.map(({ server }) => server)
    await members[0]?.kill()
    const isLeader = async (server: RememberedServer): Promise<boolean> => {
      if (server === silent) throw new Error('no answer')
      return server === down || server === leader
    }
    expect(await findMember(members, isLeader)).toBe(members[2])
    expect(await findMember(members, async () => false)).toBeUndefined()
  })

  it('that is killed is the one that starts again, though another leads then', async () => {
    const [old, next] = [new Member(new RememberedServer()), new Member(new RememberedServer())]
    let leader: Member<RememberedServer> | undefined = old
    const [kill] = leaderFaults(async () => leader)
    await kill?.begin()
    leader = next
    await kill?.end()
    expect(old.server.deeds).toEqual(['kill', 'launch'])
    expect(next.server.deeds).toEqual([])
  })

  it('is let alone while there is none', async () => {
    const faults = leaderFaults(async () => undefined)
    for (const fault of faults) {
      await fault.begin()
      await fault.end()
    }
    expect(faults.map(({ kind }) => kind)).toEqual(['kill-leader', 'freeze-leader'])
  })
})
