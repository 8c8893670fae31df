import type { FastifyInstance } from 'fastify'

// #region stop
/** Fastify does not close by itself when the process is to end. */
export function closeOnSigterm(fastify: FastifyInstance): void {
  process.once('SIGTERM', async () => {
    await fastify.close()
    process.exit()
  })
}
// #endregion stop
