// #region errors
import { LeaseError, LeaseHeldError } from '@leasehold/core'
import type { FastifyInstance } from 'fastify'

/** Without it, Fastify answers 500 with the message of the error. */
export function answerLeaseErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((error, request, reply) => {
    if (!(error instanceof LeaseError)) return reply.send(error)
    if (error instanceof LeaseHeldError) return reply.code(409).send({ error: 'another request is in progress' })
    request.log.error({ err: error }, 'the lease failed')
    return reply.code(503).send({ error: 'try again later' })
  })
}
// #endregion errors
