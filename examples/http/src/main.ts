/**
 * Two instances on each kind of server, or on those that the arguments name; one is asked to end during a request, the other
 * is killed. Exits 0 if all went well.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly address: string
  readonly child: ChildProcess
}

const given = process.argv.slice(2)
const kinds = given.length > 0 ? given : ['http', 'express', 'hono']
const children: ChildProcess[] = []

async function start(kind: string, folder: string, name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [kind, folder, name])
  children.push(child)
  const { port } = await messageOf<{ readonly port: number }>(child)
  return { address: `http://127.0.0.1:${port}`, child }
}

async function messageOf<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, 'message', { signal: AbortSignal.timeout(30_000) })
  return message as T
}

/** Repeats a check until it holds. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (await holds().catch(() => false)) return
    await sleep(50)
  }
  throw new Error(`not within 30 s: ${what}`)
}

async function leads({ address }: Instance, name: string): Promise<void> {
  await until(`${name} leads`, async () => {
    const response = await fetch(`${address}/leader`)
    return ((await response.json()) as { readonly owner?: string }).owner === name
  })
}

async function isHealthy({ address }: Instance): Promise<boolean> {
  return (await fetch(`${address}/healthz`)).status === 200
}

async function refusesConnections({ address }: Instance): Promise<boolean> {
  return await fetch(`${address}/healthz`, { headers: { connection: 'close' } }).then(
    () => false,
    () => true,
  )
}

async function show(kind: string, folder: string): Promise<void> {
  const anna = await start(kind, folder, 'anna')
  await leads(anna, 'anna')
  const berta = await start(kind, folder, 'berta')
  await until('both are healthy', async () => (await isHealthy(anna)) && (await isHealthy(berta)))
  console.log(`${kind}: anna leads, and both are healthy`)

  const entered = messageOf(anna.child)
  const answer = fetch(`${anna.address}/accounts/7`, { method: 'POST' })
  await entered
  anna.child.kill('SIGTERM')
  await until('anna accepts no more connections', async () => await refusesConnections(anna))
  const exited = once(anna.child, 'exit')
  anna.child.send('go on')
  const { by, isHeld } = (await (await answer).json()) as { readonly by: string; readonly isHeld: boolean }
  console.log(`${kind}: ${by} was asked to end, and ends the request ${isHeld ? 'with' : 'without'} its lease`)
  const [code] = await exited
  await leads(berta, 'berta')
  console.log(`${kind}: anna exits with ${code}, berta leads`)

  const carla = await start(kind, folder, 'carla')
  berta.child.kill('SIGKILL')
  await leads(carla, 'carla')
  console.log(`${kind}: berta was killed, carla leads`)
  carla.child.kill('SIGTERM')
  await once(carla.child, 'exit')

  const sweeps = readFileSync(join(folder, 'sweeps.txt'), 'utf8').trim().split('\n')
  console.log(`${kind}: ${new Set(sweeps).size === sweeps.length ? 'no tick ran twice' : `ran twice: ${sweeps}`}`)
}

try {
  for (const kind of kinds) {
    const folder = mkdtempSync(join(tmpdir(), `leasehold-${kind}-`))
    try {
      await show(kind, folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
} finally {
  for (const child of children) child.kill('SIGKILL')
}
