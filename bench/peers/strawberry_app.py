"""Strawberry, the SQLAlchemy ORM and dataloaders, as an ordinary developer writes it; started by `bench.graphql`."""

import os
from datetime import datetime

import strawberry
from sqlalchemy import Computed, DateTime, Float, Text, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, aliased, mapped_column
from starlette.applications import Starlette
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader
from strawberry.scalars import JSON

SCHEMA = os.environ["SCHEMA"]


class Base(DeclarativeBase):
    """Rows in the peers' schema."""


class NodeRow(Base):
    __tablename__ = "gnodes"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    properties: Mapped[dict] = mapped_column(JSONB)
    data: Mapped[dict] = mapped_column(JSONB)
    created: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    modified: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    score: Mapped[float | None] = mapped_column(Float, Computed("score", persisted=True))


class EdgeRow(Base):
    __tablename__ = "gedges"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    from_id: Mapped[str] = mapped_column(Text)
    to_id: Mapped[str] = mapped_column(Text)
    type: Mapped[str] = mapped_column(Text)
    weight: Mapped[float] = mapped_column(Float)


class FactRow(Base):
    __tablename__ = "gfacts"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text)
    predicate: Mapped[str] = mapped_column(Text)
    object_value: Mapped[str] = mapped_column(Text)
    valid_from: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class EvidenceRow(Base):
    __tablename__ = "gevidences"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[str] = mapped_column(Text, primary_key=True)
    fact_id: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)


URL = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://")
Session = async_sessionmaker(create_async_engine(URL, pool_size=10, max_overflow=0), expire_on_commit=False)


@strawberry.type
class Node:
    id: strawberry.ID
    type: str
    properties: JSON
    data: JSON
    modified: datetime

    @strawberry.field
    def label(self) -> str:
        return self.properties["label"]

    @strawberry.field
    async def edges(self, info: strawberry.Info, first: int = 20) -> list["Edge"]:
        return await info.context["edges"].load((self.id, first))


@strawberry.type
class Edge:
    id: strawberry.ID
    type: str
    weight: float
    to_id: strawberry.Private[str]

    @strawberry.field
    async def target(self, info: strawberry.Info) -> Node:
        return await info.context["nodes"].load(self.to_id)


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class NodeEdge:
    cursor: str
    node: Node


@strawberry.type
class NodeConnection:
    edges: list[NodeEdge]
    page_info: PageInfo


@strawberry.type
class Note:
    text: str


@strawberry.type
class Evidence:
    note: Note


@strawberry.type
class Fact:
    id: strawberry.Private[str]
    predicate: str
    object_value: str

    @strawberry.field
    async def evidence(self, info: strawberry.Info) -> list[Evidence]:
        return await info.context["evidence"].load(self.id)


@strawberry.type
class Group:
    keys: list[bool | None]
    count: int


@strawberry.type
class Aggregate:
    count: int
    max: float | None
    group_by: list[Group]


def shown(row: NodeRow) -> Node:
    return Node(
        id=strawberry.ID(row.id), type=row.type, properties=row.properties, data=row.data, modified=row.modified
    )


async def load_nodes(ids: list[str]) -> list[Node | None]:
    async with Session() as session:
        rows = (await session.scalars(select(NodeRow).where(NodeRow.id.in_(ids)))).all()
    by_id = {row.id: shown(row) for row in rows}
    return [by_id.get(id) for id in ids]


async def load_edges(keys: list[tuple[str, int]]) -> list[list[Edge]]:
    most = max(first for _, first in keys)
    number = func.row_number().over(partition_by=EdgeRow.from_id, order_by=EdgeRow.id).label("number")
    numbered = select(EdgeRow, number).where(EdgeRow.from_id.in_([id for id, _ in keys])).subquery()
    found = aliased(EdgeRow, numbered)
    async with Session() as session:
        rows = (await session.scalars(select(found).where(numbered.c.number <= most).order_by(numbered.c.id))).all()
    groups: dict[str, list[Edge]] = {}
    for row in rows:
        edge = Edge(id=strawberry.ID(row.id), type=row.type, weight=row.weight, to_id=row.to_id)
        groups.setdefault(row.from_id, []).append(edge)
    return [groups.get(id, [])[:first] for id, first in keys]


async def load_evidence(ids: list[str]) -> list[list[Evidence]]:
    async with Session() as session:
        query = select(EvidenceRow).where(EvidenceRow.fact_id.in_(ids)).order_by(EvidenceRow.id)
        rows = (await session.scalars(query)).all()
    groups: dict[str, list[Evidence]] = {}
    for row in rows:
        groups.setdefault(row.fact_id, []).append(Evidence(note=Note(text=row.note)))
    return [groups.get(id, []) for id in ids]


@strawberry.type
class Query:
    @strawberry.field
    async def sorted(self, type: str, first: int) -> list[Node]:
        query = select(NodeRow).where(NodeRow.type == type).order_by(NodeRow.score.desc(), NodeRow.id).limit(first)
        async with Session() as session:
            return [shown(row) for row in (await session.scalars(query)).all()]

    @strawberry.field
    async def related(self, type: str, first: int) -> list[Node]:
        far = aliased(NodeRow)
        owned = select(EdgeRow).join(far, far.id == EdgeRow.to_id)
        owned = owned.where(EdgeRow.from_id == NodeRow.id, EdgeRow.type == "owns", far.type == "company")
        query = select(NodeRow).where(NodeRow.type == type, owned.exists()).order_by(NodeRow.id).limit(first)
        async with Session() as session:
            return [shown(row) for row in (await session.scalars(query)).all()]

    @strawberry.field
    async def aggregate(self, type: str) -> Aggregate:
        active, count = NodeRow.properties["active"].as_boolean(), func.count()
        grouped = select(active, count, func.max(NodeRow.score)).where(NodeRow.type == type).group_by(active)
        async with Session() as session:
            rows = (await session.execute(grouped.order_by(count.desc()))).all()
        groups = [Group(keys=[key], count=many) for key, many, _ in rows]
        greatest = max((score for _, _, score in rows if score is not None), default=None)
        return Aggregate(count=sum(group.count for group in groups), max=greatest, group_by=groups)

    @strawberry.field
    async def facts(self, name: str, first: int) -> list[Fact]:
        query = select(FactRow).where(FactRow.subject == name).order_by(FactRow.valid_from.desc(), FactRow.id)
        async with Session() as session:
            rows = (await session.scalars(query.limit(first))).all()
        return [Fact(id=row.id, predicate=row.predicate, object_value=row.object_value) for row in rows]

    @strawberry.field
    async def node(self, info: strawberry.Info, id: strawberry.ID) -> Node | None:
        return await info.context["nodes"].load(id)

    @strawberry.field
    async def nodes(self, type: str, first: int = 100, after: str | None = None) -> NodeConnection:
        query = select(NodeRow).where(NodeRow.type == type).order_by(NodeRow.id).limit(first + 1)
        if after:
            query = query.where(NodeRow.id > after)
        async with Session() as session:
            rows = (await session.scalars(query)).all()
        edges = [NodeEdge(cursor=row.id, node=shown(row)) for row in rows[:first]]
        info = PageInfo(has_next_page=len(rows) > first, end_cursor=edges[-1].cursor if edges else None)
        return NodeConnection(edges=edges, page_info=info)


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def add_node(self, id: strawberry.ID, type: str, properties: JSON, data: JSON) -> Node:
        async with Session() as session:
            row = NodeRow(id=id, type=type, properties=properties, data=data)
            session.add(row)
            await session.commit()
        return shown(row)


class Door(GraphQL):
    async def get_context(self, request, response):
        return {
            "request": request,
            "nodes": DataLoader(load_nodes),
            "edges": DataLoader(load_edges),
            "evidence": DataLoader(load_evidence),
        }


app = Starlette()
app.add_route("/graphql", Door(strawberry.Schema(query=Query, mutation=Mutation)), methods=["POST"])
