"""A small agent whose memory writes itself.

It reads its memory before it answers. After each answer a model writes down what later
conversations should know, keeps notes of this one as it grows, and now and then puts the memory in
order. Each line of standard input is a turn.

    python agent.py [FOLDER]    the memory is in FOLDER; without one, in the project's usual place

With ANTHROPIC_API_KEY it talks to Anthropic; without, to a server in this folder that plays it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from typing import Any

import anthropic
import memdir
from scripted import play_anthropic

MODEL = os.environ.get("AGENT_MODEL", "claude-haiku-4-5")


class Agent:
    """A conversation, and the memory behind it."""

    def __init__(self, client: anthropic.AsyncAnthropic, memory: memdir.AsyncMemdir) -> None:
        """Begin a conversation."""
        self.client = client
        self.memory = memory
        self.session = str(uuid.uuid4())
        self.messages: list[dict[str, Any]] = []  # all that was said; each has an id that stays
        self.shown: memdir.RecallState | None = None  # which memories it has seen

    def say(self, role: str, content: Any, **more: Any) -> None:
        """Add to the conversation."""
        self.messages.append({"id": str(uuid.uuid4()), "role": role, "content": content} | more)

    async def remember(self, question: str) -> None:
        """Show the model the memories that help with a question."""
        recall = await self.memory.recall(question, strategy="lexical", state=self.shown)
        self.shown = recall.state
        if text := recall.render():
            # isMeta: what comes from memory is not written into it once more.
            self.say("user", text, isMeta=True)

    async def answer(self, question: str) -> str:
        """Take a turn."""
        await self.remember(question)
        self.say("user", question)
        reply = await self.client.messages.create(
            model=MODEL,
            max_tokens=1024,
            system=await self.memory.prompt() or "",
            messages=[{"role": m["role"], "content": m["content"]} for m in self.messages],
        )
        self.say("assistant", [block.to_dict() for block in reply.content])
        return "".join(block.text for block in reply.content if block.type == "text")


async def talk(folder: str | None, api_key: str | None, base_url: str | None) -> None:
    """Hold a conversation with whoever types."""
    memory = await memdir.AsyncMemdir.open(
        directory=folder,
        model=memdir.ModelOptions(f"anthropic/{MODEL}", api_key=api_key, base_url=base_url),
        features=memdir.Features(extract=True, dream=True),
        on_event=lambda event: print(f"({event.message})", file=sys.stderr),
    )
    client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url)
    agent = Agent(client, memory)
    background: set[asyncio.Task[memdir.AfterTurn]] = set()
    async with memory, client:
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            print(await agent.answer(line), flush=True)
            # In the background: the next turn need not wait for it.
            after = memory.after_turn(agent.messages, session=agent.session)
            task = asyncio.create_task(after)
            background.add(task)
            task.add_done_callback(background.discard)
        # What is still being written is written before it leaves.
        await asyncio.gather(*background)


def main() -> None:
    """Choose who answers, and begin."""
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    if os.environ.get("ANTHROPIC_API_KEY"):
        asyncio.run(talk(folder, None, None))
        return
    with play_anthropic() as url:
        asyncio.run(talk(folder, "none", url))


if __name__ == "__main__":
    main()
