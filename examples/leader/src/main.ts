/** Three instances of a service; the leader is asked to end, and the next one is killed. Exits 0 if every write arrived once. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly name: string
  readonly address: string
  readonly child: ChildProcess
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-leader-'))

async function start(name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [folder, name])
  const [address] = await once(child, 'message')
  return { name, address, child }
}

/** Repeats a request until it has an answer that counts: between two leaders there is none for a moment. */
async function untilAnswered<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
    await sleep(100)
  }
}

/** The leader, as an instance knows it; `other` than this one. */
function leaderKnownBy({ address }: Instance, other?: string): Promise<string> {
  return untilAnswered(async () => {
    const response = await fetch(`${address}/leader`)
    const { owner } = (await response.json()) as { readonly owner?: string }
    return owner === other ? undefined : owner
  })
}

/** Writes through an instance; returns the instance that wrote. */
function write({ address }: Instance, text: string): Promise<string> {
  return untilAnswered(async () => {
    const response = await fetch(`${address}/entries?text=${text}`, { method: 'POST' })
    return response.ok ? ((await response.json()) as { readonly writer: string }).writer : undefined
  })
}

try {
  const first = await start('anna')
  console.log(`${await leaderKnownBy(first)} leads`)
  const second = await start('berta')
  console.log(`berta writes through ${await write(second, 'one')}`)

  first.child.kill('SIGTERM')
  await once(first.child, 'exit')
  console.log(`anna has ended, ${await leaderKnownBy(second, 'anna')} leads`)
  const third = await start('carla')
  console.log(`carla writes through ${await write(third, 'two')}`)

  second.child.kill('SIGKILL')
  console.log(`berta was killed, ${await leaderKnownBy(third, 'berta')} leads`)
  console.log(`carla writes through ${await write(third, 'three')}`)
  third.child.kill('SIGTERM')
  await once(third.child, 'exit')

  const entries = readFileSync(join(folder, 'entries.txt'), 'utf8')
  console.log(entries.trim().split('\n').join(', '))
  process.exitCode = entries === 'one by anna\ntwo by berta\nthree by carla\n' ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
