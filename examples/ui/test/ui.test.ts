import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { root } from '../../../tools/workspaces.js'

/** The longest run of the example, in milliseconds. */
const LONGEST = 100_000

function start(): ChildProcess {
  const main = join(root, 'examples', 'ui', 'src', 'main.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions', '@leasehold/source', main], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST,
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** What the program prints: the processes of the workers, and the address of the page. */
async function printed(child: ChildProcess): Promise<{ readonly pids: Map<string, number>; readonly page: URL }> {
  if (child.stdout === null) throw new Error('the example has no output')
  const pids = new Map<string, number>()
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, pid] = /^(\w+) works in the process (\d+)$/.exec(line) ?? []
    if (name !== undefined) pids.set(name, Number(pid))
    if (line.startsWith('http')) return { pids, page: new URL(line) }
  }
  throw new Error('the example has ended')
}

interface Views {
  elections?: readonly { readonly leader?: string; readonly candidates: readonly { readonly owner: string }[] }[]
  schedules?: readonly { readonly runs: readonly unknown[] }[]
  semaphores?: readonly { readonly permits: number }[]
  groups?: readonly { readonly members: readonly { readonly owner: string; readonly held: readonly number[] }[] }[]
}

/** Reads the stream of the page until the recipes are as wanted. */
async function until(page: URL, isWanted: (views: Views) => boolean): Promise<Views> {
  const token = page.hash.slice('#token='.length)
  const response = await fetch(new URL('api/events', page), {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(60_000),
  })
  const decoder = new TextDecoder()
  const views: Views = {}
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const [, data] = /^event: recipes\ndata: (.*)$/s.exec(event) ?? []
      if (data !== undefined) Object.assign(views, JSON.parse(data))
    }
    if (isWanted(views)) return views
  }
  throw new Error('the stream has ended')
}

it('the page shows the fleet, and who takes over after a kill', { timeout: LONGEST }, async () => {
  const child = start()
  const { pids, page } = await printed(child)
  expect([...pids.keys()]).toEqual(['anna', 'berta'])
  const response = await fetch(page)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<title>')])
  expect((await fetch(new URL('/', page))).status).toBe(200)

  const { elections: before } = await until(page, ({ elections, schedules, semaphores, groups }) => {
    const members = groups?.[0]?.members ?? []
    return (
      elections?.[0]?.leader !== undefined &&
      (schedules?.[0]?.runs.length ?? 0) > 0 &&
      semaphores?.[0]?.permits === 2 &&
      members.length === 2 &&
      members.every(({ held }) => held.length === 4)
    )
  })
  // The one that started first leads.
  const leader = before?.[0]?.leader ?? ''
  const [other] = [...pids.keys()].filter((name) => name !== leader)
  const pid = pids.get(leader)
  if (pid === undefined) throw new Error(`${leader} leads, and is no process of the example`)
  process.kill(pid, 'SIGKILL')
  await until(page, ({ elections, groups }) => {
    const members = groups?.[0]?.members ?? []
    return elections?.[0]?.leader === other && members.length === 1 && members[0]?.held.length === 8
  })
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
})
