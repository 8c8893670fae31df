/**
 * An error with which the server answered, of a client that has no class for it. The message begins with the code of Redis.
 * The cause, where there is one, is the error of the client.
 */
export class ServerReply extends Error {}

/** The error classes for replies of a server: of ioredis and iovalkey, and of node-redis with its subclasses. */
const replies = new Set(['ReplyError', 'ErrorReply'])

/** Whether the server answered the call with an error; other failures may mean that it never received the call. */
export function isReply(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ServerReply) return true
  for (let type: object = error; type !== Error.prototype; type = Object.getPrototypeOf(type)) {
    if (replies.has(type.constructor.name)) return true
  }
  return false
}
