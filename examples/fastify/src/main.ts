/** Three instances of a service; the leader is asked to end, and the next one is killed. Exits 0 if every write arrived once. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly address: string
  readonly child: ChildProcess
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-fastify-'))

async function start(name: string): Promise<Instance> {
  const port = String(await freePort())
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [folder, name, port])
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${name} has exited before it could serve`)
  })
  // It exits later, too.
  exited.catch(() => {})
  const [address] = await Promise.race([once(child, 'message'), exited])
  return { address, child }
}

/** A port that nobody listens on: an instance announces its address before it listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Repeats a request until it has an answer that counts: between two leaders there is none for a moment. */
async function untilAnswered<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
    await sleep(100)
  }
  throw new Error('no answer within 30 s')
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

async function statuses({ address }: Instance): Promise<string> {
  const answers = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${address}/${path}`)))
  return answers.map(({ status }) => status).join(' and ')
}

const children: ChildProcess[] = []

try {
  const first = await start('anna')
  children.push(first.child)
  console.log(`${await leaderKnownBy(first)} leads`)
  const second = await start('berta')
  children.push(second.child)
  console.log(`berta writes through ${await write(second, 'one')}`)
  console.log(`berta does not lead, and answers ${await statuses(second)}`)

  first.child.kill('SIGTERM')
  await once(first.child, 'exit')
  console.log(`anna has ended, ${await leaderKnownBy(second, 'anna')} leads`)
  const third = await start('carla')
  children.push(third.child)
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
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
