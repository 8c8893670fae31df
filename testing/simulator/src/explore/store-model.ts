import type { StoreRequest } from '@leasehold/core/internal'
import type { BrokenRule } from './broken-rule.js'
import type { ClientStep, Draft } from './client-step.js'
import type { Message } from './message.js'
import type { Client, Server } from './world.js'

/** A kind of store: the decisions of its clients and of its server, and what they send each other. */
export interface StoreModel {
  /** The engine calls its store. */
  call(step: ClientStep, index: number, draft: Draft, op: number, request: StoreRequest): void
  /** The call under way is given up. */
  abort(draft: Draft): void
  /** Whether a client waits for this answer, or for the answer to this request. */
  awaits(client: Client, message: Message): boolean
  /** The server carries out a request. */
  carryOut(server: Server, index: number, client: Client, message: Message): CarriedOut
  /** An answer that the client waits for has arrived. */
  onAnswer(step: ClientStep, index: number, draft: Draft, message: Message): void
  /** The server after this time, in units. */
  later(server: Server, passed: number): Server
  /** The client's side of the store after this time, in units. */
  clientLater(client: Client, passed: number): Client['cas']
  /** Whether the server has this grant, in force. */
  isInForce(server: Server, grantId: string): boolean
}

export interface CarriedOut {
  readonly server: Server
  readonly answer: Message
  readonly broken?: BrokenRule | undefined
}
