/**
 * One instance: `instance.ts CONTAINER wait|skip [STUCK]`. It migrates the container, or waits for the instance that does, or
 * skips the migration. It never finishes the blob STUCK.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { BlobServiceClient } from '@azure/storage-blob'
import { migrateContainer } from './migrate.js'

const [container = '', how, stuck] = process.argv.slice(2)
const service = BlobServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING ?? '')

// An instance must not outlive the demo.
process.once('disconnect', () => process.exit())

const result = await migrateContainer(service, container, {
  wait: how === 'wait' ? 120_000 : 0,
  convert: async (text, blob) => {
    process.send?.({ begins: blob })
    await pause(blob === stuck ? 1_000_000 : 50)
    const { name, ...rest } = JSON.parse(text) as { name: string }
    const [first, last] = name.split(' ')
    return JSON.stringify({ first, last, ...rest })
  },
})
process.send?.(result, () => process.exit())
