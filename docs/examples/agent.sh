#!/bin/sh
# A whole turn of an agent in any language, through the commands of `session`; the model is a stand-in. Needs jq.
#
#     agent.sh NAME WORKSPACE PROMPT
#
# Run it again with the same arguments and it goes on with the same session. Kill it anywhere (CRASH=1 does it after the
# first tool): the next run says what was found, and goes on.
set -eu

if [ -z "${IN_TURN:-}" ]; then
    [ $# -eq 3 ] || { echo "usage: agent.sh NAME WORKSPACE PROMPT" >&2; exit 2; }
    # Status 5: there is one of this very name. (`session path` would also take the start of another's.)
    error=$(session new "$1" --workspace "$2" 2>&1 >/dev/null) || [ $? -eq 5 ] || { echo "$error" >&2; exit 1; }
    # The lock, the marker of the turn, a checkpoint before and after; what runs in the background ends with it.
    IN_TURN=1 exec session turn "$1" --wait 10s --checkpoint -- sh "$0" "$@"
fi

workspace=$2
prompt=$3

# One message. A pipe does not tell that what is before this has failed; that nothing came does.
append() {
    [ "$(session append "$KVIT_SESSION")" = 1 ]
}

# What a person said meanwhile, each message once: taken, appended with its id, acknowledged. Status 3: some cannot be
# delivered, which was told. It stays in $steered.
take_steering() {
    steered=$(session inbox "$KVIT_SESSION" drain) || [ $? -eq 3 ]
    [ -n "$steered" ] || return 0
    while IFS= read -r message; do
        printf '%s\n' "$message" | jq -c '{role: "user", content: .text, x: {inbox: [.id]}}' | append
        session inbox "$KVIT_SESSION" ack "$(printf '%s\n' "$message" | jq -r .id)" >/dev/null
    done <<LINES
$steered
LINES
}

call() {
    jq -cn --arg id "$1" --arg name "$2" --arg arguments "$3" \
        '{role: "assistant", tool_calls: [{id: $id, type: "function", function: {name: $name, arguments: $arguments}}]}' | append
}

result() {
    jq -Rcs --arg id "$1" --arg name "$2" '{role: "tool", tool_call_id: $id, name: $name, content: .}' | append
}

# The stand-in for a model: $said is what it says next, by how much was said since the prompt. `--api` gives each call a
# result, also where a turn was killed in between. Status 3: a part of the history is damaged, which was told.
ask_the_model() {
    conversation=$(session load "$KVIT_SESSION" --api) || [ $? -eq 3 ]
    said=$(printf '%s\n' "$conversation" | jq -rs '[.[] | .role] | reverse | index("user") // 0')
    # No id of a call comes twice in a conversation.
    id=c$(printf '%s\n' "$conversation" | jq -rs length)
}

jq -cn --arg prompt "$prompt" '{role: "user", content: $prompt}' | append
while :; do
    take_steering
    ask_the_model
    case $said in
    0)
        call "$id" Plant '{"what":"an oak"}'
        # Large output goes to a file; the message has its beginning and end, and where the rest is. That a tool failed
        # is for the model to know.
        {
            yes 'an oak' | head -n 5000 >"$workspace/oak.txt" &&
                session spill "$KVIT_SESSION" --hint Plant <"$workspace/oak.txt"
        } 2>&1 | result "$id" Plant
        [ -z "${CRASH:-}" ] || kill -9 "$PPID"
        ;;
    2)
        call "$id" Water '{}'
        # A process that outlives this command, and ends with the turn.
        session run "$KVIT_SESSION" --name water --until '^water runs$' -- 'echo water runs; exec sleep 60' 2>&1 | result "$id" Water
        ;;
    4)
        call "$id" Report '{"task_status":"completed","headline":"An oak stands.","blocks":[]}'
        echo done | result "$id" Report
        ;;
    *)
        echo '{"role":"assistant","content":"An oak stands, and it has water."}' | append
        # What came since is for this turn too; what comes later waits for the next.
        take_steering
        [ -n "$steered" ] || break
        ;;
    esac
done
session report "$KVIT_SESSION"
