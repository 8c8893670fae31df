/**
 * Several instances start a migration of one blob container: on Azurite, or on the account that
 * AZURE_STORAGE_CONNECTION_STRING names. The instance that migrates is killed in the middle. Exits 0 if every blob was migrated
 * once.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { BlobServiceClient } from '@azure/storage-blob'
import { startAzurite } from '@leasehold/example-azure-blob/azurite'
import type { MigrationOutcome } from './migrate.js'

const people = ['Ada Lovelace', 'Alan Turing', 'Barbara Liskov', 'Edsger Dijkstra', 'Grace Hopper', 'Leslie Lamport']
const STUCK = 'person-3.json'

type Message = MigrationOutcome | { readonly begins: string }

const own = process.env.AZURE_STORAGE_CONNECTION_STRING
const azurite = own === undefined ? await startAzurite() : undefined
const connection = own ?? azurite?.connectionString ?? ''
const service = BlobServiceClient.fromConnectionString(connection)
const container = service.getContainerClient(`people-${randomUUID().slice(0, 8)}`)
const instances: ChildProcess[] = []
/** How often each blob was begun. */
const begun = new Map<string, number>()

function start(...args: string[]): ChildProcess {
  const env = { ...process.env, AZURE_STORAGE_CONNECTION_STRING: connection }
  const program = fileURLToPath(new URL('instance.ts', import.meta.url))
  const instance = fork(program, [container.containerName, ...args], { env })
  instance.on('message', (message: Message) => {
    if ('begins' in message) begun.set(message.begins, (begun.get(message.begins) ?? 0) + 1)
  })
  instances.push(instance)
  return instance
}

/** The first message that fits. Rejects if the instance ends before. */
function messageOf<M extends Message>(instance: ChildProcess, fits: (message: Message) => message is M): Promise<M> {
  return new Promise((resolve, reject) => {
    instance.on('message', (message: Message) => fits(message) && resolve(message))
    instance.once('exit', (code) => reject(new Error(`an instance ended with ${code}`)))
  })
}

const isOutcome = (message: Message): message is MigrationOutcome => 'outcome' in message
const isStuck = (message: Message): message is { begins: string } => 'begins' in message && message.begins === STUCK

try {
  await container.create()
  for (const [index, name] of people.entries()) {
    const text = JSON.stringify({ name })
    await container.getBlockBlobClient(`person-${index + 1}.json`).upload(text, text.length)
  }
  const anna = start('wait', STUCK)
  await messageOf(anna, isStuck)
  console.log(`anna migrates, and is at ${STUCK}`)
  const berta = start('wait')
  const done = messageOf(berta, isOutcome)
  const { outcome } = await messageOf(start('skip'), isOutcome)
  console.log(`carla does not wait: ${outcome}`)
  anna.removeAllListeners('exit').kill('SIGKILL')
  console.log('anna is killed')
  const result = await done
  if (result.outcome === 'migrated') {
    console.log(`berta waited, and went on after ${result.after}: ${result.blobs.join(', ')}`)
  }
  console.log(`doris comes later: ${(await messageOf(start('wait'), isOutcome)).outcome}`)
  const migrated: string[] = []
  for (const index of people.keys()) {
    const blob = container.getBlobClient(`person-${index + 1}.json`)
    const { first, last } = JSON.parse(String(await blob.downloadToBuffer()))
    migrated.push(`${first} ${last}`)
  }
  // The blob at which anna was killed was begun twice, and written once.
  const once = [...begun].every(([blob, times]) => times === (blob === STUCK ? 2 : 1))
  const isDone = once && migrated.join() === people.join()
  console.log(isDone ? `all ${migrated.length} blobs were migrated once` : 'a blob was not migrated once')
  if (!isDone) process.exitCode = 1
} finally {
  for (const instance of instances) if (instance.connected) instance.disconnect()
  await container.deleteIfExists().catch(() => {})
  azurite?.stop()
}
