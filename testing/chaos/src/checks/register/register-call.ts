import type { Operation, Read, Write } from '../../history/operation.js'

export type Called<T> = T & Pick<Operation, 'id' | 'client' | 'life' | 'from' | 'to'>

/** A call of the guarded register. */
export type RegisterCall = Called<Write> | Called<Read>

export function isRegisterCall(operation: Operation): operation is RegisterCall {
  return operation.call === 'write' || operation.call === 'read'
}
