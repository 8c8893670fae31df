import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { errors } from '@nats-io/transport-node'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../src/api-error.js'
import { failureOf } from '../src/failure-of.js'

const { AuthorizationError, RequestError, NoRespondersError, TimeoutError, PermissionViolationError } = errors

describe('the error of a failed request', () => {
  it.each([
    [new AuthorizationError('Authorization Violation'), LeaseUnauthorisedError],
    // The server was too busy to look at the credentials: they may be right.
    [new AuthorizationError('Authentication Timeout'), LeaseUnavailableError],
    [new PermissionViolationError('no', 'publish', '$KV.x'), LeaseUnauthorisedError],
    [new RequestError('', { cause: new NoRespondersError('$KV.x') }), LeaseUnavailableError],
    [new TimeoutError(), LeaseUnavailableError],
    [new ApiError({ code: 404, err_code: 10_059, description: 'stream not found' }), LeaseConfigurationError],
    [new ApiError({ code: 503, err_code: 10_039, description: 'not enabled' }), LeaseConfigurationError],
    [new ApiError({ code: 400, err_code: 10_054, description: 'message size' }), LeaseConfigurationError],
    [new ApiError({ code: 503, err_code: 10_008, description: 'system unavailable' }), LeaseUnavailableError],
    ['a text', LeaseUnavailableError],
  ])('%s has its type', (error, type) => {
    const failure = failureOf({ operation: 'the read', leaseName: 'job' }, error, 'leasehold')
    expect(failure).toBeInstanceOf(type)
    expect(failure).toMatchObject({ leaseName: 'job', store: 'nats', cause: error })
  })
})
