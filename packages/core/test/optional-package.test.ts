import { LeaseConfigurationError } from '@leasehold/core'
import { importOptional } from '@leasehold/core/store-kit'
import { expect, it } from 'vitest'

const absent = { name: 'absent-client', neededBy: 'a configuration', store: 'example' }

function missing(name: string): Promise<never> {
  const error = new Error(`Cannot find package '${name}' imported from /app/open-client.js`)
  return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }))
}

it('an optional package is what its import resolves with', async () => {
  expect(await importOptional(absent, async () => ({ open: 1 }))).toEqual({ open: 1 })
})

it('an optional package that is not installed is an error that says how to install it', async () => {
  const failed = importOptional({ ...absent, install: 'absent-client@1', advice: 'A pod needs none' }, () =>
    missing('absent-client'),
  )
  await expect(failed).rejects.toBeInstanceOf(LeaseConfigurationError)
  await expect(failed).rejects.toMatchObject({
    message: 'a configuration needs absent-client: npm install absent-client@1. A pod needs none',
    store: 'example',
    cause: { code: 'ERR_MODULE_NOT_FOUND' },
  })
})

it('an optional package that cannot be loaded is an error with its reason', async () => {
  const broken = importOptional(absent, () => Promise.reject(new TypeError('no such function')))
  await expect(broken).rejects.toThrow(
    'a configuration needs absent-client, which cannot be loaded (no such function): npm install absent-client',
  )
  // A package that the optional one needs.
  const [own, other] = [
    importOptional(absent, () => missing('absent-client')),
    importOptional(absent, () => missing('tool')),
  ]
  await expect(own).rejects.not.toThrow('cannot be loaded')
  await expect(other).rejects.toThrow("cannot be loaded (Cannot find package 'tool'")
})
