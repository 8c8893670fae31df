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

/** A configuration whose leases are made by a module of `test/stores`. */
export function configOfStore(name: string): string {
  const module = fileURLToPath(new URL(`../stores/${name}.ts`, import.meta.url))
  return configFile(`leasehold.lease.lease-class = ${JSON.stringify(module)}`)
}
