import { useEffect, useRef } from 'preact/hooks'
import type { ErrorBody } from '../../src/protocol.js'
import { fieldTexts } from './field-texts.js'
import { usePage } from './page-context.js'

/** Asks for the access token. */
export function TokenForm({ error }: { readonly error: ErrorBody }) {
  const { unlock } = usePage()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <main class="door">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          const token = fieldTexts(event.currentTarget)('token')
          if (token !== '') unlock(token)
        }}
      >
        <h1>Access token</h1>
        <p id="token-help">
          This page shows who holds which lease. Its server asks for a token: the program that started it prints an
          address with the token.
        </p>
        <p id="token-error" role="alert" class="refused">
          {error.message}
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          ref={input}
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-help token-error"
          name="token"
        />
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  )
}
