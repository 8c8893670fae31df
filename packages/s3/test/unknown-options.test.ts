import { S3Guard, S3LeaseStore } from '@leasehold/s3'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['S3LeaseStore', 'buckett', 'bucket', (o: object) => new S3LeaseStore(o as never)],
    ['S3LeaseStore', 'clockDiference', 'clockDifference', (o: object) => new S3LeaseStore(o as never)],
    ['S3Guard', 'endpont', 'endpoint', (o: object) => new S3Guard(o as never)],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    expect(() => use({ bucket: 'leases', [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})
