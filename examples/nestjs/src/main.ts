/** Two instances of a NestJS service; the leader is killed. Exits 0 if each tick ran once, and the leader moved. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly name: string
  readonly address: string
  readonly child: ChildProcess
}

interface Leader {
  readonly owner?: string
  readonly term?: string
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-nestjs-'))

async function start(name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [folder, name], {
    // For the decorators.
    env: { ...process.env, TSX_TSCONFIG_PATH: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) },
  })
  const [address] = await once(child, 'message')
  return { name, address, child }
}

async function get<T>({ address }: Instance, path: string): Promise<T> {
  const response = await fetch(`${address}/${path}`)
  return (await response.json()) as T
}

async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await sleep(100)
  }
}

/** Waits until this instance knows a leader of a later term. */
async function leaderAfter(term: number, asked: Instance): Promise<Leader> {
  return await until(async () => {
    const leader = await get<Leader>(asked, 'leader')
    return Number(leader.term ?? 0) > term ? leader : undefined
  })
}

/** Waits for `count` more reports, by whichever instance. */
async function moreReports(count: number, asked: Instance): Promise<readonly string[]> {
  const before = (await get<readonly string[]>(asked, 'reports')).length
  return await until(async () => {
    const sent = await get<readonly string[]>(asked, 'reports')
    return sent.length >= before + count ? sent : undefined
  })
}

try {
  const [anna, berta] = [await start('anna'), await start('berta')]
  const first = await leaderAfter(0, anna)
  const [leader, other] = first.owner === 'this instance' ? [anna, berta] : [berta, anna]
  const seen = await leaderAfter(0, other)
  console.log(`both instances know the leader: ${seen.owner === leader.name}`)
  await moreReports(3, anna)
  const health = await get<{ readonly status: string }>(other, 'health')
  console.log(`a follower is healthy: ${health.status === 'ok'}`)
  const booking = await fetch(`${anna.address}/accounts/7`, { method: 'POST' })
  const { id, token } = (await booking.json()) as { readonly id: string; readonly token: string }
  console.log(`booked under the lease of account ${id}, with a fencing token: ${BigInt(token) > 0n}`)

  leader.child.kill('SIGKILL')
  await once(leader.child, 'exit')
  const { owner } = await leaderAfter(Number(seen.term), other)
  console.log(`the leader was killed, and the other instance leads: ${owner === 'this instance'}`)
  const reports = await moreReports(3, other)
  console.log(`@Cron runs on, on the other instance: ${reports.at(-1)?.endsWith(` ${other.name}`)}`)
  const dues = reports.map((line) => line.slice(0, 24))
  const twice = dues.length - new Set(dues).size
  console.log(`${twice} ticks ran twice`)

  other.child.kill('SIGTERM')
  await once(other.child, 'exit')
  process.exitCode = twice === 0 && dues.length >= 6 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
