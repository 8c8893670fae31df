import { createLease, type Metadata } from '@leasehold/core'
import { PartitionGroup } from '@leasehold/recipes'
import { eventually, silentLogger } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestTerminal } from './support/test-terminal.js'

/** A terminal whose store has the records of these members. */
async function withMembers(...members: readonly Metadata[]): Promise<TestTerminal> {
  const terminal = new TestTerminal({ isTTY: true })
  const store = terminal.open()
  for (const [place, metadata] of members.entries()) {
    const lease = createLease(store, `accounts/members/${place}`, {
      owner: `web-${place + 1}`,
      heartbeatTimeout: 60_000,
    })
    await lease.acquire({ metadata: { recipe: 'partition-group', partitions: '8', ...metadata } })
    onTestFinished(async () => void (await lease.release()))
  }
  return terminal
}

const region = (address: string, entities: string, moves: string): Metadata => ({
  'member.address': address,
  'member.entities': entities,
  'member.moves': moves,
})

describe('shards', () => {
  it('shows a line for each process, and the shards without an owner', async () => {
    const terminal = await withMembers(
      { share: 'h3d1', ...region('http://10.0.0.4:7001', '31204', '25') },
      { share: 'n3c1h1', ...region('http://10.0.0.5:7001', '7', '4') },
      { share: '', leaving: 'true', ...region('http://10.0.0.6:7001', '0', '12') },
      { share: 'n7c1' },
    )
    const { code, output, errors } = await terminal.run('shards accounts')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toBe(
      [
        'OWNER  ADDRESS               SHARDS  ENTITIES  MOVES  STATE     NUMBERS',
        'web-1  http://10.0.0.4:7001  4       31204     25     draining  0-2, drains 3',
        'web-2  http://10.0.0.5:7001  1       7         4      working   4, claims 3',
        'web-3  http://10.0.0.6:7001  0       0         12     leaving   -',
        'web-4  -                     0       -         -      joining   claims 7',
        '-      -                     3       -         -      no owner  5-7',
        '',
      ].join('\n'),
    )
  })

  it('prints JSON for programs', async () => {
    const terminal = await withMembers(
      { share: 'h3', ...region('http://a', '12', '3') },
      { share: 'n3h4', ...region('http://b', '30', 'x') },
    )
    const { code, output } = await terminal.run('shards accounts -o json')
    expect(code).toBe(0)
    const none = { draining: [], claimed: [], isLeaving: false, partitions: 8 }
    expect(JSON.parse(output)).toEqual({
      name: 'accounts',
      shards: 8,
      entities: 42,
      members: [
        {
          ...none,
          owner: 'web-1',
          address: 'http://a',
          entities: 12,
          moves: 3,
          held: [0, 1, 2],
          metadata: { address: 'http://a', entities: '12', moves: '3' },
        },
        {
          ...none,
          owner: 'web-2',
          address: 'http://b',
          entities: 30,
          held: [3, 4, 5, 6],
          metadata: { address: 'http://b', entities: '30', moves: 'x' },
        },
      ],
      unowned: [7],
    })
  })

  it('exits with 1 if no process is there, and says what to look at', async () => {
    const terminal = new TestTerminal()
    const { code, output, errors } = await terminal.run('shards accounts')
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toBe(
      "leasehold: no process of 'accounts' is there: look at the name and the store, or for its records with leasehold list accounts/\n",
    )
    const json = await terminal.run('shards accounts -o json')
    expect(JSON.parse(json.output)).toEqual({ name: 'accounts', shards: 0, members: [], unowned: [] })
    expect(await terminal.run('shards')).toMatchObject({ code: 64 })
  })

  it('shows a group that runs', async () => {
    const terminal = new TestTerminal()
    const group = new PartitionGroup(terminal.open(), {
      name: 'log',
      owner: 'reader',
      partitions: 3,
      heartbeatTimeout: 2_000,
      heartbeatInterval: 100,
      operationTimeout: 500,
      onAssigned: () => {},
      logger: silentLogger,
    })
    group.start()
    onTestFinished(() => group.stop())
    const expected = 'reader\t-\t3\t-\t-\tworking\t0-2\n'
    await eventually('the reader has all', async () => (await terminal.run('shards log')).output === expected)
  })
})
