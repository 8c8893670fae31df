import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@leasehold/testing'

/** A configuration file of one test; returns its path. */
export function configFile(text: string): string {
  const file = join(temporaryFolder(), 'application.conf')
  writeFileSync(file, text)
  return file
}

/** A configuration whose leases are made by a module of `test/stores`, with its options. */
export function configOfStore(name: string, options: Readonly<Record<string, string>> = {}): string {
  const module = fileURLToPath(new URL(`../stores/${name}.ts`, import.meta.url))
  return configFile(`leasehold.lease = ${JSON.stringify({ 'lease-class': module, ...options })}`)
}
