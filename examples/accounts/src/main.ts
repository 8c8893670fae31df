/** Two instances with bank accounts; one is killed, one is replaced. Exits 0 if every deposit was booked once. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

interface Instance {
  readonly address: string
  readonly child: ChildProcess
}

/** For how long a request is repeated, in milliseconds. */
const LONGEST = 30_000

const folder = mkdtempSync(join(tmpdir(), 'leasehold-accounts-'))
const ids = Array.from({ length: 20 }, (_, place) => `account-${place}`)

async function start(name: string): Promise<Instance> {
  const child = fork(fileURLToPath(new URL('./instance.ts', import.meta.url)), [folder, name])
  const [address] = await once(child, 'message')
  return { address, child }
}

/** Ends an instance in an orderly way. */
async function end({ child }: Instance): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Repeats a request until it has an answer: while an account moves, there is none for a moment. */
async function balanceFrom(address: string, path: string, method = 'GET'): Promise<number> {
  const signal = AbortSignal.timeout(LONGEST)
  for (;;) {
    const response = await fetch(`${address}/accounts/${path}`, { method, signal })
    const { balance } = (await response.json()) as { readonly balance: number }
    if (response.ok) return balance
    await sleep(100, undefined, { signal })
  }
}

/** Deposits 5 into each account, at the instances in turn. `round`: a number for the keys, which are different each time. */
async function deposit(round: number, ...instances: readonly Instance[]): Promise<void> {
  const booked = ids.map((id, place) => {
    const { address } = instances[place % instances.length] as Instance
    return balanceFrom(address, `${id}/deposit?amount=5&key=round-${round}`, 'POST')
  })
  await Promise.all(booked)
}

async function sumAt({ address }: Instance): Promise<number> {
  const balances = await Promise.all(ids.map((id) => balanceFrom(address, id)))
  return balances.reduce((sum, balance) => sum + balance, 0)
}

try {
  const [anna, berta] = await Promise.all([start('anna'), start('berta')])
  await deposit(1, anna, berta)
  console.log(
    `${ids.length} deposits through two instances: ${await sumAt(anna)} through anna, ${await sumAt(berta)} through berta`,
  )

  const depositing = deposit(2, berta)
  anna.child.kill('SIGKILL')
  await depositing
  console.log(`anna was killed within ${ids.length} deposits: ${await sumAt(berta)} through berta`)

  const carla = await start('carla')
  await deposit(3, berta, carla)
  const moving = deposit(4, carla)
  await Promise.all([end(berta), moving])
  const sum = await sumAt(carla)
  console.log(`carla replaced berta within ${ids.length} deposits: ${sum} through carla`)
  await end(carla)
  const deposits = 4 * ids.length
  console.log(`${deposits} deposits of 5 are ${sum}`)
  process.exitCode = sum === deposits * 5 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
