import type { GroupMember, Leader } from '@leasehold/recipes'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { ElectionDirectory } from '../src/election-directory.js'
import { GroupDirectory } from '../src/group-directory.js'

const PAUSE = 1_000

function member(owner: string, held: readonly number[], more: Partial<GroupMember> = {}): GroupMember {
  const none = { partitions: 8, draining: [], claimed: [], isLeaving: false }
  return { owner, held, metadata: { address: `http://${owner}` }, ...none, ...more }
}

function createPlace() {
  const time = new VirtualTime()
  const clock = new VirtualClock({ time })
  const reports: unknown[] = []
  let changes = 0
  const place = {
    time,
    reports,
    looks: [] as number[],
    members: [] as readonly GroupMember[],
    isDown: false,
    get changes() {
      return changes
    },
  }
  const directory = new GroupDirectory({
    clock,
    random: () => 0.5,
    pause: PAUSE,
    report: (error) => reports.push(error),
    read: async () => {
      place.looks.push(time.now)
      if (place.isDown) throw new Error('down')
      return place.members
    },
  })
  directory.onChange(() => {
    changes += 1
  })
  return Object.assign(place, { directory, clock })
}

describe('a directory of a group', () => {
  it('has the addresses of the owners, also while they drain, and else of those that claim', () => {
    const { directory } = createPlace()
    directory.update([member('b', [3], { claimed: [1, 2, 4] }), member('a', [0, 1], { draining: [2] })])
    expect([0, 1, 2, 3, 4, 5].map((shard) => directory.addressOf(shard))).toEqual([
      'http://a',
      'http://a',
      'http://a',
      'http://b',
      'http://b',
      undefined,
    ])
  })

  it('knows nothing of members without an address', () => {
    const { directory } = createPlace()
    directory.update([member('a', [0], { metadata: {} }), member('b', [1], { metadata: { address: '' } })])
    expect([directory.addressOf(0), directory.addressOf(1)]).toEqual([undefined, undefined])
  })

  it('takes the newest owner while the record of a dead one is still there, and stays with it', () => {
    const { directory } = createPlace()
    const dead = member('dead', [0])
    directory.update([dead])
    for (const members of [
      [dead, member('next', [0])],
      [member('next', [0]), dead],
      [dead, member('next', [0])],
    ]) {
      directory.update(members)
      expect(directory.addressOf(0)).toBe('http://next')
    }
    directory.update([member('next', [], { draining: [0] }), member('third', [0])])
    expect(directory.addressOf(0)).toBe('http://third')
  })

  it('calls the listeners after a change of the records, and at no other time', () => {
    const place = createPlace()
    const { directory } = place
    directory.update([member('a', [0])])
    expect(place.changes).toBe(1)
    directory.update([member('a', [0])])
    directory.learn(0, 'http://b')
    expect(place.changes).toBe(1)
    directory.update([member('b', [0])])
    // That was known already.
    expect(place.changes).toBe(1)
    directory.update([])
    expect(place.changes).toBe(2)
  })

  it('believes a process until the records change, or for a while', async () => {
    const place = createPlace()
    const { directory, time } = place
    const before = [member('a', [0, 1])]
    directory.update(before)
    directory.learn(0, 'http://b')
    directory.learn(1, undefined)
    // Records that are older than the answers.
    directory.update(before)
    expect([directory.addressOf(0), directory.addressOf(1)]).toEqual(['http://b', undefined])
    directory.update([member('a', [1]), member('c', [0])])
    expect([directory.addressOf(0), directory.addressOf(1)]).toEqual(['http://c', undefined])
    const { changes } = place
    await time.advance(4 * PAUSE)
    directory.update([member('a', [1]), member('c', [0])])
    expect(directory.addressOf(1)).toBe('http://a')
    expect(place.changes).toBe(changes + 1)
  })

  it('does not believe any longer that a process has not got a shard, when its record shows that it has', () => {
    const place = createPlace()
    const { directory } = place
    directory.update([member('a', [], { claimed: [0] })])
    directory.learn(0, undefined)
    directory.update([member('a', [], { claimed: [0] })])
    expect(directory.addressOf(0)).toBeUndefined()
    directory.update([member('a', [0])])
    expect([directory.addressOf(0), place.changes]).toEqual(['http://a', 2])
  })

  it('looks at once when it is asked, and then at most once in a pause', async () => {
    const place = createPlace()
    const { directory, time } = place
    place.members = [member('a', [0])]
    for (let asked = 0; asked < 5; asked += 1) directory.refresh()
    await time.advance(0)
    expect(place.looks).toEqual([0])
    expect(directory.addressOf(0)).toBe('http://a')
    for (let asked = 0; asked < 30; asked += 1) {
      directory.refresh()
      await time.advance(PAUSE / 10)
    }
    expect(place.looks).toEqual([0, PAUSE, 2 * PAUSE, 3 * PAUSE])
  })

  it('reports an outage once, keeps what it knows, and looks again when it is asked', async () => {
    const place = createPlace()
    const { directory, time, reports } = place
    directory.update([member('a', [0])])
    place.isDown = true
    for (let asked = 0; asked < 5; asked += 1) {
      directory.refresh()
      await time.advance(PAUSE)
    }
    expect(reports.map(String)).toEqual(['Error: down'])
    expect(directory.addressOf(0)).toBe('http://a')
    place.isDown = false
    directory.refresh()
    await time.advance(PAUSE)
    expect(directory.addressOf(0)).toBeUndefined()
  })

  it('looks no more after its end, and keeps no timer', async () => {
    const place = createPlace()
    const { directory, time, clock } = place
    directory.refresh()
    await time.advance(0)
    directory.refresh()
    directory.close()
    directory.refresh()
    await time.advance(10 * PAUSE)
    expect(place.looks).toEqual([0])
    expect(clock.pending).toBe(0)
    const idle = createPlace()
    idle.directory.close()
    idle.directory.refresh()
    await idle.time.advance(PAUSE)
    expect(idle.looks).toEqual([])
  })
})

describe('a directory of an election', () => {
  const leader = (owner: string, term: bigint): Leader => ({ owner, term, metadata: { address: `http://${owner}` } })

  function createElection() {
    const { time, clock } = createPlace()
    let now: Leader | undefined
    const directory = new ElectionDirectory({
      clock,
      random: () => 0.5,
      pause: PAUSE,
      report: () => {},
      election: {
        leader: async () => now,
        async *observe() {
          yield now
        },
      },
    })
    return { time, directory, elect: (next: Leader | undefined) => (now = next) }
  }

  it('has the address of the leader', async () => {
    const { time, directory, elect } = createElection()
    elect(leader('a', 1n))
    void directory.follow()
    await time.advance(0)
    expect(directory.addressOf(0)).toBe('http://a')
    elect(undefined)
    directory.refresh()
    await time.advance(PAUSE)
    expect(directory.addressOf(0)).toBeUndefined()
  })

  it('does not go back to an earlier term', () => {
    const { directory } = createElection()
    directory.update(leader('b', 2n))
    directory.update(leader('a', 1n))
    expect(directory.addressOf(0)).toBe('http://b')
    // After a transfer, the address is not written yet.
    directory.update({ ...leader('c', 3n), metadata: {} })
    expect(directory.addressOf(0)).toBeUndefined()
  })
})
