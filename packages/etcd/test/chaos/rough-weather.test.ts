import { randomInt } from 'node:crypto'
import { systemClock } from '@leasehold/core'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import type { EtcdServer } from '@leasehold/testing/etcd-server'
import type { Player } from '@leasehold/testing/players'
import { passed } from '@leasehold/testing/real-time'
import { expect, it } from 'vitest'
import { Scene } from '../support/scene.js'

/** For how long members are killed and stopped, in milliseconds. */
const STORM = 60_000

/** Kills or stops one member after the other, at most one at a time. */
async function storm(members: readonly EtcdServer[], until: number): Promise<string[]> {
  const log: string[] = []
  while (systemClock.now() < until) {
    const place = randomInt(members.length)
    const member = members[place] as EtcdServer
    const isLeader = await member.isLeader().catch(() => false)
    const role = `${isLeader ? 'leader' : 'follower'} ${place}`
    if (randomInt(2) === 0) {
      log.push(`kill ${role}`)
      await member.kill()
      await passed(randomInt(3_000))
      await member.start()
    } else {
      log.push(`stop ${role}`)
      member.freeze()
      await passed(randomInt(4_000))
      member.thaw()
    }
    await passed(randomInt(4_000))
  }
  return log
}

/** Takes turns until the storm is over. Each turn adds the token of its grant. */
async function takeTurns({ lease }: Player, tokens: bigint[], until: number): Promise<void> {
  while (systemClock.now() < until) {
    const isHeld = await lease.acquire({ wait: 20_000 }).catch(() => false)
    if (!isHeld) continue
    tokens.push(lease.fencingToken ?? 0n)
    await passed(randomInt(500))
    await lease.release().catch(() => false)
  }
}

describeEtcd('while members of a cluster are killed and stopped at random,', () => {
  it('no two owners hold the lease, and tokens grow', { timeout: 240_000 }, () =>
    Scene.play(async (scene) => {
      const members = await scene.cluster()
      const until = systemClock.now() + STORM
      const tokens: bigint[] = []
      const players = Array.from({ length: 4 }, (_, place) => scene.player(`player ${place}`, scene.store(...members)))
      const [log] = await Promise.all([
        storm(members, until),
        ...players.map((player) => takeTurns(player, tokens, until)),
      ])
      const message = log.join(', ')
      for (const { overlaps } of players) expect(overlaps, message).toEqual([])
      expect(tokens, message).toEqual(tokens.toSorted((one, other) => (one < other ? -1 : 1)))
      expect(new Set(tokens).size).toBe(tokens.length)
      expect(tokens.length, message).toBeGreaterThan(10)
    }),
  )
})
